import { isRecord } from '#lib/json/is-record';
import type { Attachment } from '#lib/protocol/attachment';
import { HttpError } from '#lib/protocol/http-error';
import { LIMITS } from '#lib/protocol/limits';
import { given } from '#lib/util/given';
import { type BlobStore, type ForeignFile, findFile, readForeignFile } from '../blobs/room.ts';

/** A person's message as a front end sends it. */
export interface MessageContent {
  readonly text: string;
  readonly files: readonly ForeignFile[];
  /** Of a file that lies elsewhere. */
  readonly url?: string;
}

const TEXT_TYPES = new Set(['text', 'input_text', 'output_text']);

/** Each part by itself: one that makes no sense leaves a line that says so. */
export function readContent(content: unknown): MessageContent {
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
  const texts: string[] = [];
  const files: ForeignFile[] = [];
  let url: string | undefined;
  for (const part of parts) {
    if (part === undefined || part === null) continue;
    if (typeof part === 'string') texts.push(part);
    else if (!isRecord(part)) texts.push('[A part of this message cannot be read.]');
    else if (TEXT_TYPES.has(String(part.type ?? 'text')) && typeof part.text === 'string') {
      texts.push(part.text);
    } else {
      const file = findFile(part);
      if (file && 'url' in file) url = file.url;
      else if (file) files.push(file);
      else
        texts.push(
          `[A part of the type ${JSON.stringify(part.type)} cannot be read here.]`.slice(0, 200),
        );
    }
  }
  return { text: texts.join('\n\n'), files, ...given({ url }) };
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
