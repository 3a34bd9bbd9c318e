import { cutAndMark } from '#lib/json/cut-to-bytes';
import { isRecord } from '#lib/json/is-record';
import type { Attachment } from '#lib/protocol/attachment';
import type { ClientMessageOf } from '#lib/protocol/client-messages';
import { LIMITS } from '#lib/protocol/limits';
import { given } from '#lib/util/given';
import { type BlobStore, findFile, readForeignFile } from '../blobs/room.ts';
import type { ClientAnswer } from '../calls/room.ts';

/** An answer whose call is known, and whose content cannot be used. */
export interface UnreadableAnswer {
  readonly type: 'unreadable_answer';
  readonly id: string;
  readonly attempt: number | undefined;
  /** It says what is wrong. */
  readonly message: string;
}

/** A client's message as an answer; its attachments were stored before. */
export function toClientAnswer(
  message: ClientMessageOf<'tool_result' | 'tool_error'>,
  attachments: readonly Attachment[],
): ClientAnswer {
  if (message.type === 'tool_error') return toFailure(message.error, message.code);
  const { output, display } = message;
  return { ok: true, output, attachments, ...given({ display }) };
}

/** The text stands on the card, so it has the limit of what a client shows there. */
export const toFailure = (text: string, code: string | undefined): ClientAnswer => ({
  ok: false,
  message: cutAndMark(text, LIMITS.statusBytes) || 'The tool failed and said nothing more',
  ...given({ clientCode: code }),
});

/** An answer whose content cannot be used; it ends its call with that reason. */
export const unusableAnswer = (
  message: string,
  code: 'result_invalid' | 'result_too_large' = 'result_invalid',
) => ({ ok: 'unusable', code, message }) as const;

/** Where files are kept, and for whom. */
interface Keeping {
  readonly blobs: BlobStore;
  readonly owner: string;
  /** Counts bytes as an upload does; or gives the seconds until there is room for them. */
  take(bytes: number): number | undefined;
}

/** One file, or why it is not kept. */
type Stored = Attachment | string;

/** So many of the files that were not kept are named. */
const MOST_NAMED = 20;

/**
 * The answer with its attachments as blobs. The tool has run: a file that cannot be kept costs
 * itself alone, and a text in its place says so to people and models.
 */
export async function storeAttachments(
  message: ClientMessageOf<'tool_result'>,
  keeping: Keeping,
): Promise<ClientAnswer> {
  const { attachments: sent = [] } = message;
  const files: readonly unknown[] = Array.isArray(sent) ? sent : [sent];
  const kept: Attachment[] = [];
  const lost: string[] = [];
  for (const [at, file] of files.entries()) {
    const stored =
      kept.length < LIMITS.attachmentsPerResult ? await storeAttachment(file, keeping) : TOO_MANY;
    if (typeof stored === 'string') lost.push(`File ${at + 1}: ${stored}.`);
    else kept.push(stored);
  }
  const note = lost.length > 0 ? await keeping.blobs.put(noteOf(lost)) : undefined;
  return toClientAnswer(message, note?.ok ? [...kept, note.attachment] : kept);
}

const TOO_MANY = `a result may have ${LIMITS.attachmentsPerResult} files`;

function noteOf(lost: readonly string[]) {
  const more = lost.length > MOST_NAMED ? [`And ${lost.length - MOST_NAMED} more.`] : [];
  const lines = ['Not kept of the files of this result:', ...lost.slice(0, MOST_NAMED), ...more];
  const bytes = Buffer.from(lines.join('\n'));
  return { mediaType: 'text/plain', bytes, name: 'files-not-kept.txt' };
}

async function storeAttachment(file: unknown, { blobs, owner, take }: Keeping): Promise<Stored> {
  if (!isRecord(file)) return 'it is no object with media_type and data or blob_id';
  const described = given({ name: textIn(file.name, 256), alt: textIn(file.alt, 2_000) });
  if (typeof file.blob_id === 'string') {
    // Not its bytes: a small message may name large blobs, and many such messages may come.
    const known = await blobs.find(file.blob_id, owner);
    const { blob_id: id } = file;
    return known
      ? { ...known, ...described }
      : `there is no blob ${id.slice(0, 64)}; upload it before the result`;
  }
  const found = findFile({ ...file, type: 'file' });
  if (!found || 'url' in found) return 'it has no data and no blob_id';
  const mediaType = textIn(file.media_type, 128);
  const upload = readForeignFile({ data: found.data, ...described, ...given({ mediaType }) });
  if (!upload) return `its data, of ${mediaType ?? 'no type'}, is not base64`;
  const { length } = upload.bytes;
  if (length > LIMITS.attachmentBytes) return tooLarge(length);
  const wait = take(length);
  if (wait !== undefined) return overQuota(length, wait);
  const put = await blobs.put({ ...upload, owner });
  return put.ok ? put.attachment : put.message;
}

const textIn = (value: unknown, most: number): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, most).toWellFormed() : undefined;

const overQuota = (bytes: number, wait: number): string =>
  `with this token no further ${bytes} bytes may be uploaded for ${wait} s; blobs.bytes_per_hour of the configuration is the limit`;

const tooLarge = (bytes: number): string =>
  `it has ${bytes} bytes; in a message it may have ${LIMITS.attachmentBytes}. Upload it by POST /v1/blobs and name its blob_id`;
