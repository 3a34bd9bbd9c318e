import type { Attachment } from '#lib/protocol/attachment';

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

/**
 * Large binary results on disk, by content: `blob_` and 40 hex digits of the
 * SHA-256. Written to a temporary file, fsynced and renamed before `put` resolves.
 */
export interface BlobStore {
  put(upload: BlobUpload): Promise<BlobOutcome>;
  /** Without its bytes; name, meaning and type as `owner` gave them. */
  find(blobId: string, owner?: string): Promise<Attachment | undefined>;
  /** Undefined when there is no such blob. Rejects with `BlobDamagedError` when its bytes are not those of its id. */
  read(
    blobId: string,
    owner?: string,
  ): Promise<{ attachment: Attachment; bytes: Uint8Array } | undefined>;
}

/** The blobs as files, for those who delete what is old. */
export interface BlobFiles {
  /** Of all blobs, by the sizes of their files; counted once, and followed from then on. */
  size(): Promise<number>;
  /** The ids of all that were put last before then (milliseconds since the epoch), in no order. */
  putBefore(at: number): AsyncIterable<string>;
  /** Forgets a blob that nothing refers to; unless it was put again since. Resolves to whether it did. */
  remove(blobId: string, putBefore: number): Promise<boolean>;
}

/** How many bytes the holder of a token may upload (rule BL16). */
export interface UploadQuota {
  /** Counts an upload; or counts nothing, and gives the seconds until there is room for it. */
  take(owner: string, bytes: number): number | undefined;
}

/** The bytes on disk are not those that were put, so they are not given out. */
export class BlobDamagedError extends Error {
  override readonly name = 'BlobDamagedError';
}
