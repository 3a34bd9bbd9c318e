import type { Buffer } from 'node:buffer';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { toolErrorSchema, toolResultSchema } from '../../protocol/client-messages.ts';

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

const recordSchema = z.union([
  z.object({ epoch: z.string().min(1) }),
  z.object({
    put: z.object({
      id: z.string(),
      attempt: z.number(),
      tool: z.string(),
      repeatable: z.boolean(),
      answer: z.union([toolResultSchema, toolErrorSchema]).nullable(),
    }),
  }),
  z.object({ delete: z.string() }),
]);

/** One line of a journal's file. */
export type JournalRecord = z.infer<typeof recordSchema>;

/** Undefined for what this version does not write. */
export const parseJournalRecord = (value: unknown): JournalRecord | undefined =>
  recordSchema.safeParse(value).data;
