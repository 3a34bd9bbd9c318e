import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Attachment, attachmentSchema } from '#lib/protocol/attachment';
import { LIMITS } from '#lib/protocol/limits';
import {
  BlobDamagedError,
  type BlobOutcome,
  type BlobStore,
  type BlobUpload,
} from './blob-store.ts';
import { findMismatch, parseMediaType } from './media-type.ts';
import { readImageSize } from './read-image-size.ts';
import { TEMPORARY, writeDurably } from './write-durably.ts';

const BLOB_ID = /^blob_[0-9a-f]{40}$/;
/** Unspecific, so a later upload may replace it by a specific one. */
const UNSPECIFIC = 'application/octet-stream';

/**
 * Blobs in a directory of their own (rules BL1 to BL7): the bytes under the
 * blob's id, and beside them `<id>.json`, the attachment as it was first put.
 * The second is written last, so that a blob is there once its bytes are.
 */
export function createDiskBlobStore({ dir }: { readonly dir: string }): BlobStore {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(dir)) if (TEMPORARY.test(name)) rmSync(join(dir, name));

  async function readAttachment(blobId: string): Promise<Attachment | undefined> {
    const text = await readIfThere(join(dir, `${blobId}.json`));
    return text && attachmentSchema.parse(JSON.parse(text.toString('utf8')));
  }

  return {
    async put(upload) {
      const refusal = refuse(upload);
      if (refusal) return refusal;
      const attachment = toAttachment(upload);
      const { blob_id: blobId } = attachment;
      const known = await readAttachment(blobId);
      // Also in the place of bytes that the disk has damaged since: here are the right ones.
      if (!known || !(await holds(join(dir, blobId), upload.bytes))) {
        await writeDurably(dir, blobId, upload.bytes);
      }
      if (known && known.media_type !== UNSPECIFIC) {
        return { ok: true, attachment: { ...attachment, ...factsOf(known) } };
      }
      if (known?.media_type !== attachment.media_type) {
        await writeDurably(dir, `${blobId}.json`, Buffer.from(JSON.stringify(attachment)));
      }
      return { ok: true, attachment };
    },

    async read(blobId) {
      // The id becomes the name of a file, so nothing else may pass.
      if (!BLOB_ID.test(blobId)) return undefined;
      const attachment = await readAttachment(blobId);
      const bytes = attachment && (await readIfThere(join(dir, blobId)));
      if (!bytes) return undefined;
      if ((await idOf(bytes)) === blobId) return { attachment, bytes };
      throw new BlobDamagedError(`the file ${join(dir, blobId)} is not what was put into it`);
    },
  };
}

/** Off the main thread, as a large one takes a while. */
async function idOf(bytes: Buffer): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new Uint8Array(bytes));
  return `blob_${Buffer.from(digest).toString('hex').slice(0, 40)}`;
}

const holds = async (file: string, bytes: Uint8Array): Promise<boolean> =>
  (await readIfThere(file))?.equals(bytes) ?? false;

function refuse({ mediaType, bytes }: BlobUpload): Extract<BlobOutcome, { ok: false }> | undefined {
  if (bytes.length === 0) {
    return { ok: false, code: 'empty', message: 'there are no bytes; send at least one' };
  }
  if (bytes.length > LIMITS.blobBytes) {
    const message = `${bytes.length} bytes are too many; at most ${LIMITS.blobBytes} are taken`;
    return { ok: false, code: 'too_large', message };
  }
  const type = parseMediaType(mediaType);
  const mismatch = type
    ? findMismatch(type, bytes)
    : `${JSON.stringify(mediaType.slice(0, 128))} is not a media type; send one such as image/png`;
  return mismatch === undefined ? undefined : { ok: false, code: 'mismatch', message: mismatch };
}

function toAttachment({ mediaType, bytes, name, alt }: BlobUpload): Attachment {
  const type = parseMediaType(mediaType) ?? UNSPECIFIC;
  return {
    blob_id: `blob_${createHash('sha256').update(bytes).digest('hex').slice(0, 40)}`,
    media_type: type,
    size: bytes.length,
    ...(name !== undefined && { name }),
    ...(alt !== undefined && { alt }),
    ...readImageSize(type, bytes),
  };
}

/** What the first upload settled about the bytes; their name and meaning are each upload's own. */
function factsOf({ media_type, width, height }: Attachment): Partial<Attachment> {
  return {
    media_type,
    ...(width !== undefined && { width }),
    ...(height !== undefined && { height }),
  };
}

async function readIfThere(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
