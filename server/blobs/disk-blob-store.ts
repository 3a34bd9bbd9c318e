import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, type Stats } from 'node:fs';
import { opendir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { cutToBytes } from '#lib/json/cut-to-bytes';
import { sameJson } from '#lib/json/equal';
import { runIn, Semaphores } from '#lib/limits/semaphore';
import { type Attachment, attachmentSchema } from '#lib/protocol/attachment';
import { LIMITS } from '#lib/protocol/limits';
import { redactShapes } from '#lib/text/redact';
import { given } from '#lib/util/given';
import { isMissing } from '#lib/util/is-missing';
import { TEMPORARY, writeDurably } from '../base/write-durably.ts';
import { findMismatch, isText, parseMediaType, sniffMediaType, UNSPECIFIC } from './media-type.ts';
import { readImageSize } from './read-image-size.ts';
import { scaleForModel } from './scale-image.ts';

export interface BlobUpload {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  readonly name?: string;
  readonly alt?: string;
  /** Whose name, meaning and type these are; without one they are in the answer alone. */
  readonly owner?: string;
}

export type BlobOutcome =
  | { readonly ok: true; readonly attachment: Attachment }
  /** `mismatch`: the bytes are not of the media type. `too_large`: over `LIMITS.blobBytes`. */
  | {
      readonly ok: false;
      readonly code: 'mismatch' | 'too_large' | 'empty';
      readonly message: string;
    };

/** The bytes on disk are not those that were put, so they are not given out. */
export class BlobDamagedError extends Error {
  override readonly name = 'BlobDamagedError';
}

/** A record has so much of one file, as UTF-8. */
const TEXT_BYTES = 16 * 1024;

type Facts = Pick<Attachment, 'text' | 'text_cut' | 'unreadable'>;

/** Gives what a model reads of a file, or why it is not shown it (BL18). */
async function factsForModel(mediaType: string, bytes: Uint8Array): Promise<Facts> {
  if (mediaType.startsWith('image/')) {
    const scaled = await scaleForModel(bytes);
    return scaled.ok ? {} : { unreadable: scaled.message };
  }
  if (sniffMediaType(bytes) !== undefined && !mediaType.startsWith('text/')) return {};
  if (!isText(bytes)) return {};
  // A few bytes more than are kept: the last character may be cut.
  const whole = new TextDecoder().decode(bytes.subarray(0, TEXT_BYTES + 4));
  const text = cutToBytes(whole, TEXT_BYTES);
  return { text, ...(bytes.length > TEXT_BYTES && { text_cut: true as const }) };
}

const BLOB_ID = /^blob_[0-9a-f]{40}$/;

interface DiskBlobs {
  readonly dir: string;
  /** Takes out of names and meanings what is secret; without it tokens alone. */
  readonly hide?: (text: string) => string;
}

/** One owner calls the bytes so. */
const describedSchema = attachmentSchema.pick({ media_type: true, name: true, alt: true });

/** The bytes have a type, and names by their owners. A description of an older version was anybody's. */
const storedSchema = attachmentSchema.omit({ name: true, alt: true }).extend({
  of: z.record(z.string(), describedSchema).default({}),
});

type Stored = z.infer<typeof storedSchema>;

/** Beyond these the names of those who put it first are forgotten. */
const MOST_OWNERS = 256;

type DiskBlobStore = ReturnType<typeof createDiskBlobStore>;
export type BlobStore = Pick<DiskBlobStore, 'put' | 'find' | 'read'>;
/** The blobs as files, for those who delete what is old. */
export type BlobFiles = Pick<DiskBlobStore, 'size' | 'putBefore' | 'remove'>;

/**
 * Large binary results in a directory of their own (rules BL1 to BL7), by content: `blob_` and 40
 * hex digits of the SHA-256. The bytes lie under the blob's id, and beside them `<id>.json`, what
 * they are and what their owners call them. The second is written last, so that a blob is there
 * once its bytes are.
 */
export function createDiskBlobStore({ dir, hide = redactShapes }: DiskBlobs) {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(dir)) if (TEMPORARY.test(name)) rmSync(join(dir, name));
  /** Changes of one blob are made one after the other. */
  const works = new Semaphores();
  const oneByOne = <T>(blobId: string, work: () => Promise<T>) =>
    runIn({ enter: (begin) => works.enter(blobId, 1, begin) }, work);
  const sizes = createSizes(dir);

  async function readStored(blobId: string) {
    const text = await readIfThere(join(dir, `${blobId}.json`));
    return text && storedSchema.parse(JSON.parse(text.toString('utf8')));
  }

  async function readAttachment(blobId: string, owner: string | undefined) {
    const stored = await readStored(blobId);
    return stored && describedBy(stored, owner);
  }

  async function keep(attachment: Attachment, { bytes, owner }: BlobUpload): Promise<Attachment> {
    const { blob_id: blobId, name: _, alt: __, ...facts } = attachment;
    const file = join(dir, blobId);
    const known = await readStored(blobId);
    // Also in the place of bytes that the disk has damaged since: here are the right ones.
    if (!known || !(await holds(file, bytes))) await writeDurably(dir, blobId, bytes);
    else await utimes(file, new Date(), new Date()); // From now on it is one that was just put.
    sizes.put(known ? 0 : bytes.length);
    const isUnspecific = facts.media_type === UNSPECIFIC;
    const isNew = !known || (known.media_type === UNSPECIFIC && !isUnspecific);
    const of = owner === undefined ? known?.of : withOwner(known?.of, owner, attachment);
    const stored = { ...(isNew ? { ...facts, blob_id: blobId } : known), of: of ?? {} };
    if (!sameJson(known, stored)) {
      await writeDurably(dir, `${blobId}.json`, Buffer.from(JSON.stringify(stored)));
    }
    if (!isUnspecific) return attachment;
    // An upload that says nothing is what the same bytes were said to be before.
    const { media_type, width, height } = stored;
    return { ...attachment, ...given({ media_type, width, height }) };
  }

  /** First what says that it is there: after a crash in between, nothing leads to the bytes. */
  async function removeOld(blobId: string, putBefore: number): Promise<boolean> {
    const file = join(dir, blobId);
    const there = await statIfThere(file);
    if (!there || there.mtimeMs >= putBefore) return false;
    await rm(`${file}.json`, { force: true });
    await rm(file, { force: true });
    sizes.put(-there.size);
    return true;
  }

  return {
    async put(upload: BlobUpload): Promise<BlobOutcome> {
      const refusal = refuse(upload);
      if (refusal) return refusal;
      const described = toAttachment(upload, hide);
      const facts = await factsForModel(described.media_type, upload.bytes);
      const work = () => keep({ ...described, ...facts }, upload);
      return { ok: true, attachment: await oneByOne(described.blob_id, work) };
    },

    /** Without its bytes; name, meaning and type as `owner` gave them. */
    find: async (blobId: string, owner?: string): Promise<Attachment | undefined> =>
      BLOB_ID.test(blobId) ? readAttachment(blobId, owner) : undefined,

    /** The bytes of all blobs, by the sizes of their files; counted once, and followed from then on. */
    size: sizes.total,

    /** The ids of all that were put last before then (milliseconds since the epoch), in no order. */
    async *putBefore(at: number) {
      for await (const blob of blobsIn(dir)) if (blob.putAt < at) yield blob.id;
    },

    /** Forgets a blob that nothing refers to; unless it was put again since. Resolves to whether it did. */
    remove: (blobId: string, putBefore: number): Promise<boolean> =>
      BLOB_ID.test(blobId)
        ? oneByOne(blobId, () => removeOld(blobId, putBefore))
        : Promise.resolve(false),

    /** Undefined when there is no such blob. Rejects with `BlobDamagedError` when its bytes are not those of its id. */
    async read(
      blobId: string,
      owner?: string,
    ): Promise<{ attachment: Attachment; bytes: Uint8Array } | undefined> {
      // The id becomes the name of a file, so nothing else may pass.
      if (!BLOB_ID.test(blobId)) return undefined;
      const attachment = await readAttachment(blobId, owner);
      const bytes = attachment && (await readIfThere(join(dir, blobId)));
      if (!bytes) return undefined;
      if ((await idOf(bytes)) === blobId) return { attachment, bytes };
      throw new BlobDamagedError(`the file ${join(dir, blobId)} is not what was put into it`);
    },
  };
}

/** Counts the files when it is first asked for; what happens meanwhile may be counted twice, or not. */
function createSizes(dir: string) {
  let counted: Promise<number> | undefined;
  let since = 0;
  const count = async () => {
    let bytes = 0;
    for await (const { size } of blobsIn(dir)) bytes += size;
    return bytes;
  };
  return {
    put(bytes: number): void {
      since += bytes;
    },
    async total() {
      if (!counted) {
        since = 0;
        counted = count();
      }
      return (await counted) + since;
    },
  };
}

async function* blobsIn(dir: string) {
  for await (const { name } of await opendir(dir)) {
    const there = BLOB_ID.test(name) ? await statIfThere(join(dir, name)) : undefined;
    if (there) yield { id: name, size: there.size, putAt: there.mtimeMs };
  }
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

function toAttachment(
  { mediaType, bytes, name, alt }: BlobUpload,
  hide: (text: string) => string,
): Attachment {
  const type = parseMediaType(mediaType) ?? UNSPECIFIC;
  return {
    blob_id: `blob_${createHash('sha256').update(bytes).digest('hex').slice(0, 40)}`,
    media_type: type,
    size: bytes.length,
    ...(name !== undefined && { name: hide(name) }),
    ...(alt !== undefined && { alt: hide(alt) }),
    ...readImageSize(type, bytes),
  };
}

/** In the words of that owner; what was read of the bytes as another type is not of this one. */
function describedBy({ of, ...facts }: Stored, owner: string | undefined): Attachment {
  const own = owner !== undefined && Object.hasOwn(of, owner) ? of[owner] : undefined;
  if (!own || own.media_type === facts.media_type) return { ...facts, ...own };
  const { text: _, text_cut: __, unreadable: ___, width: ____, height: _____, ...size } = facts;
  return { ...size, ...own };
}

/** Its own as the newest one. */
function withOwner(known: Stored['of'] = {}, owner: string, attachment: Attachment): Stored['of'] {
  const { [owner]: _, ...others } = known;
  const kept = Object.entries(others).slice(1 - MOST_OWNERS);
  return Object.fromEntries([...kept, [owner, describedSchema.parse(attachment)]]);
}

const readIfThere = (file: string): Promise<Buffer | undefined> => ifThere(readFile(file));

const statIfThere = (file: string): Promise<Stats | undefined> => ifThere(stat(file));

async function ifThere<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
