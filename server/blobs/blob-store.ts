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

/** The bytes on disk are not those that were put, so they are not given out. */
export class BlobDamagedError extends Error {
  override readonly name = 'BlobDamagedError';
}
