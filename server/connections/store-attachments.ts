import type { Attachment } from '#lib/protocol/attachment';
import type { AttachmentUpload, ClientMessageOf } from '#lib/protocol/client-messages';
import { LIMITS } from '#lib/protocol/limits';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { ClientAnswer } from '../calls/client-calls.ts';
import { toClientAnswer, unusableAnswer } from './client-answer.ts';

type Stored = { readonly ok: true; readonly attachment: Attachment } | Unusable;
type Unusable = ReturnType<typeof unusableAnswer>;

/** The answer with its attachments as blobs; unusable when one of them cannot be stored. */
export async function storeAttachments(
  message: ClientMessageOf<'tool_result'>,
  blobs: BlobStore,
): Promise<ClientAnswer> {
  const attachments: Attachment[] = [];
  for (const upload of message.attachments ?? []) {
    const stored = await storeAttachment(upload, blobs);
    if (stored.ok !== true) return stored;
    attachments.push(stored.attachment);
  }
  return toClientAnswer(message, attachments);
}

async function storeAttachment(upload: AttachmentUpload, blobs: BlobStore): Promise<Stored> {
  const { name, alt } = upload;
  const described = {
    ...(name === undefined ? {} : { name }),
    ...(alt === undefined ? {} : { alt }),
  };
  if ('blob_id' in upload) {
    // Not its bytes: a small message may name large blobs, and many such messages may come.
    const known = await blobs.find(upload.blob_id);
    return known
      ? { ok: true, attachment: { ...known, ...described } }
      : unusableAnswer(`There is no blob ${upload.blob_id}; upload it before the result`);
  }
  const bytes = decodeBase64(upload.data);
  if (!bytes) {
    return unusableAnswer(`The data of an attachment of ${upload.media_type} is not base64`);
  }
  if (bytes.length > LIMITS.attachmentBytes) return tooLarge(bytes.length);
  const put = await blobs.put({ mediaType: upload.media_type, bytes, ...described });
  if (put.ok) return { ok: true, attachment: { ...put.attachment, ...described } };
  const code = put.code === 'too_large' ? 'result_too_large' : 'result_invalid';
  return unusableAnswer(put.message, code);
}

/** `Buffer` skips what is not base64, and would keep other bytes than the client sent. */
function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  const isWhole = bytes.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '');
  return isWhole ? bytes : undefined;
}

const tooLarge = (bytes: number): Unusable =>
  unusableAnswer(
    `An attachment has ${bytes} bytes; in a message it may have ${LIMITS.attachmentBytes}. Upload it by POST /v1/blobs and name its blob_id`,
    'result_too_large',
  );
