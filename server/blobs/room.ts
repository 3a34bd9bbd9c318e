import { z } from 'zod';
import { TokenBuckets } from '#lib/limits/token-bucket';
import { closedObject } from '#lib/protocol/closed-object';
import { LIMITS } from '#lib/protocol/limits';

export {
  BlobDamagedError,
  type BlobFiles,
  type BlobOutcome,
  type BlobStore,
  type BlobUpload,
  createDiskBlobStore,
} from './disk-blob-store.ts';
export { type ForeignFile, findFile, readForeignFile, textIn } from './foreign-file.ts';
export { type ScaleOutcome, scaleForModel } from './scale-image.ts';

/** More tokens than these are never live at a time. */
const MOST_COUNTED = 1_000;

/** The configuration of uploads with one token that is no administrator's. */
export const blobsConfigSchema = closedObject({
  bytes_per_hour: z
    .number()
    .int()
    .min(LIMITS.blobBytes)
    .default(512 * 1024 * 1024),
}).prefault({});

/**
 * How many bytes the holder of a token may upload (rule BL16): so many at once, which come back
 * evenly over an hour.
 */
export const createUploadQuota = (
  { bytes_per_hour: burst }: z.infer<typeof blobsConfigSchema>,
  clock: { now(): number },
): TokenBuckets => new TokenBuckets({ burst, perSecond: burst / 3_600 }, clock.now, MOST_COUNTED);
