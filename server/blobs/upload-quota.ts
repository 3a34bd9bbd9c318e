import { z } from 'zod';
import { createTokenBucket, type TokenBucket } from '#lib/net/token-bucket';
import { closedObject } from '#lib/protocol/closed-object';
import { LIMITS } from '#lib/protocol/limits';

/** Whose uploads are counted; more tokens than these are never live at a time. */
const MOST_COUNTED = 1_000;

/** Of uploads with one token that is no administrator's. */
export const blobsConfigSchema = closedObject({
  bytes_per_hour: z
    .number()
    .int()
    .min(LIMITS.blobBytes)
    .default(512 * 1024 * 1024),
}).prefault({});

export type UploadQuota = ReturnType<typeof createUploadQuota>;

/**
 * How many bytes the holder of a token may upload (rule BL16): so many at once, which come back
 * evenly over an hour.
 */
export function createUploadQuota(
  { bytes_per_hour: burst }: z.infer<typeof blobsConfigSchema>,
  clock: { now(): number },
) {
  const rate = { burst, perSecond: burst / 3_600 };
  /** The one that uploaded last stands last. */
  const buckets = new Map<string, TokenBucket>();
  return {
    /** Counts an upload; or counts nothing, and gives the seconds until there is room for it. */
    take(tokenId: string, bytes: number): number | undefined {
      const bucket = buckets.get(tokenId) ?? createTokenBucket(rate, clock.now);
      buckets.delete(tokenId);
      buckets.set(tokenId, bucket);
      const [oldest] = buckets.keys();
      if (buckets.size > MOST_COUNTED && oldest !== undefined) buckets.delete(oldest);
      if (bucket.take(bytes)) return undefined;
      return Math.ceil((bytes - bucket.tokens) / rate.perSecond);
    },
  };
}
