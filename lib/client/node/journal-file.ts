import type { Buffer } from 'node:buffer';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isRecord } from '../../json/is-record.ts';
import type { AttachmentUpload } from '../../protocol/client-messages.ts';
import type { CallAnswer, JournalEntry } from '../journal.ts';

/** A file that only grows, each write on disk before it counts. */
export interface JournalFile {
  readonly bytes: number;
  /** Resolves once it is on disk. After a rejection the file is as it was, or takes nothing more. */
  append(lines: Buffer): Promise<void>;
  close(): Promise<void>;
}

/** Takes up the file after `bytes`; what is behind them is cut off. */
export async function openJournalFile(path: string, bytes: number): Promise<JournalFile> {
  const handle = await open(path, 'r+');
  await handle.truncate(bytes);
  await handle.datasync();
  return createJournalFile(handle, bytes);
}

/** Puts a new file in the place of the one at `path`, whole or not at all, readable by its owner alone. */
export async function replaceJournalFile(path: string, content: Buffer): Promise<JournalFile> {
  const beside = `${path}.new`;
  const handle = await open(beside, 'w', 0o600);
  try {
    await handle.chmod(0o600);
    await writeAll(handle, content, 0);
    await handle.datasync();
    await rename(beside, path);
    await syncDir(dirname(path));
  } catch (error) {
    await handle.close();
    throw error;
  }
  return createJournalFile(handle, content.length);
}

function createJournalFile(handle: FileHandle, first: number): JournalFile {
  let bytes = first;
  let broken: unknown;

  async function append(lines: Buffer): Promise<void> {
    if (broken) throw broken;
    try {
      await writeAll(handle, lines, bytes);
    } catch (error) {
      // Half a line would make all later ones look damaged.
      await handle.truncate(bytes).catch((failed) => {
        broken = failed;
      });
      throw error;
    }
    try {
      // guard: journal-synced
      await handle.datasync();
    } catch (error) {
      // The system may have dropped what it could not write: a second try would prove nothing.
      broken = error;
      throw error;
    }
    bytes += lines.length;
  }

  return {
    append,
    close: () => handle.close(),
    get bytes() {
      return bytes;
    },
  };
}

/** A full disk takes a part first, and fails on the next write. */
async function writeAll(handle: FileHandle, content: Buffer, position: number): Promise<void> {
  for (let done = 0; done < content.length; ) {
    const { bytesWritten } = await handle.write(content, done, undefined, position + done);
    done += bytesWritten;
  }
}

/** A rename counts only once its directory is on disk. Windows has no call for that, and needs none. */
async function syncDir(dir: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** One line of a journal's file. */
export type JournalRecord =
  | { readonly epoch: string }
  | { readonly put: JournalEntry }
  | { readonly delete: string };

/**
 * Undefined for what this version does not write. A test holds the answers to
 * their schemas in `protocol/client-messages.ts`; a client loads no schemas.
 */
export function parseJournalRecord(value: unknown): JournalRecord | undefined {
  if (!isRecord(value)) return undefined;
  const { epoch, put, delete: deleted } = value;
  if (typeof epoch === 'string' && epoch !== '') return { epoch };
  if (isEntry(put)) return { put };
  return typeof deleted === 'string' ? { delete: deleted } : undefined;
}

const isEntry = (value: unknown): value is JournalEntry =>
  isRecord(value) &&
  typeof value.id === 'string' &&
  Number.isFinite(value.attempt) &&
  typeof value.tool === 'string' &&
  typeof value.repeatable === 'boolean' &&
  (value.answer === null || isCallAnswer(value.answer));

function isCallAnswer(value: unknown): value is CallAnswer {
  if (!isRecord(value) || !isText(value.id, 128) || value.id === '') return false;
  if (!isOptional(value.attempt, isAttempt)) return false;
  switch (value.type) {
    case 'tool_result':
      return (
        value.output !== undefined &&
        isOptional(value.success, (given) => given === true) &&
        isOptional(value.attachments, isUploads)
      );
    case 'tool_error':
      return (
        isText(value.error) &&
        isOptional(value.success, (given) => given === false) &&
        isOptional(value.code, (given) => isText(given, 64))
      );
    default:
      return false;
  }
}

const isUploads = (value: unknown): value is AttachmentUpload[] =>
  Array.isArray(value) && value.length <= 8 && value.every(isUpload);

const isUpload = (value: unknown): value is AttachmentUpload =>
  isRecord(value) &&
  isText(value.media_type, 128) &&
  (isText(value.data) || isText(value.blob_id, 128)) &&
  isOptional(value.name, (given) => isText(given, 256)) &&
  isOptional(value.alt, (given) => isText(given, 2_000));

const isText = (value: unknown, longest = Number.POSITIVE_INFINITY): value is string =>
  typeof value === 'string' && value.length <= longest;

const isAttempt = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0;

const isOptional = (value: unknown, fits: (given: unknown) => boolean): boolean =>
  value === undefined || fits(value);
