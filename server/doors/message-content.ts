import { isRecord } from '#lib/json/is-record';
import type { Attachment } from '#lib/protocol/attachment';
import { HttpError } from '#lib/protocol/http-error';
import { LIMITS } from '#lib/protocol/limits';
import { type BlobStore, type ForeignFile, findFile, readForeignFile } from '../blobs/room.ts';

/** A person's message as a front end sends it. */
export interface MessageContent {
  readonly text: string;
  readonly files: readonly ForeignFile[];
  /** A file lies elsewhere, at this address. */
  readonly url?: string;
}

const TEXT_TYPES = new Set(['text', 'input_text', 'output_text']);

/** Each part is read by itself: one that makes no sense leaves a line that says so. */
export function readContent(content: unknown): MessageContent {
  const given: readonly unknown[] = Array.isArray(content) ? content : [content];
  const parts = given.filter((part) => part !== undefined && part !== null).map(readPart);
  const url = parts.findLast((part) => part.url !== undefined)?.url;
  return {
    text: parts.flatMap(({ text }) => text ?? []).join('\n\n'),
    files: parts.flatMap(({ file }) => file ?? []),
    ...(url === undefined ? {} : { url }),
  };
}

function readPart(part: unknown): { text?: string; file?: ForeignFile; url?: string } {
  if (typeof part === 'string') return { text: part };
  if (!isRecord(part)) return { text: '[A part of this message cannot be read.]' };
  const { type = 'text', text } = part;
  if (TEXT_TYPES.has(String(type)) && typeof text === 'string') return { text };
  const file = findFile(part);
  if (file) return 'url' in file ? { url: file.url } : { file };
  const kind = JSON.stringify(part.type);
  return { text: `[A part of the type ${kind} cannot be read here.]`.slice(0, 200) };
}

/** The message that is to be answered: what the agent would not see of it is refused. */
export function readAsked(content: unknown): MessageContent {
  const asked = readContent(content);
  if (asked.url !== undefined) throw elsewhere(asked.url);
  return asked;
}

const elsewhere = (url: string): HttpError =>
  new HttpError(
    'bad_request',
    `This server fetches no pictures or files from addresses, so ${JSON.stringify(url.slice(0, 200))} is not taken. Send the bytes themselves, as a data: URI.`,
  );

/** The files as blobs, and a line for each that cannot be kept. */
export async function keepFiles(
  files: readonly ForeignFile[],
  blobs: Pick<BlobStore, 'put'>,
): Promise<{ readonly files: readonly Attachment[]; readonly lost: string }> {
  const kept: Attachment[] = [];
  const lost: string[] = [];
  for (const [at, file] of files.entries()) {
    const upload = kept.length < LIMITS.attachmentsPerResult ? readForeignFile(file) : undefined;
    const put = upload && (await blobs.put(upload));
    if (put?.ok) kept.push(put.attachment);
    else lost.push(`[File ${at + 1} of this message was not kept: ${put?.message ?? UNREAD}.]`);
  }
  return { files: kept, lost: lost.map((line) => `\n\n${line}`).join('') };
}

const UNREAD = `there are over ${LIMITS.attachmentsPerResult} of them, or its data is not base64`;
