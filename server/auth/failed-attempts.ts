import { RateLimiterMemory } from 'rate-limiter-flexible';

const FAILED_ATTEMPTS = { count: 20, windowSeconds: 60 } as const;

/**
 * Wrong credentials by address, loopback included: a page in somebody's browser
 * guesses from there. It counts and tells; who is refused is decided elsewhere.
 */
export interface FailedAttempts {
  /** Counts one; the seconds to wait once there were too many, else undefined. */
  count(address: string): Promise<number | undefined>;
  /** The seconds to wait, without counting. */
  lockedFor(address: string): Promise<number | undefined>;
}

export function createFailedAttempts(
  limits: { readonly count: number; readonly windowSeconds: number } = FAILED_ATTEMPTS,
): FailedAttempts {
  const limiter = new RateLimiterMemory({
    points: limits.count,
    duration: limits.windowSeconds,
  });
  const wait = (used: { consumedPoints: number; msBeforeNext: number } | null) =>
    used && used.consumedPoints > limits.count
      ? Math.max(1, Math.ceil(used.msBeforeNext / 1_000))
      : undefined;
  return {
    count: async (address) => wait(await limiter.penalty(bucketOf(address))),
    lockedFor: async (address) => wait(await limiter.get(bucketOf(address))),
  };
}

/** One subscriber owns a whole IPv6 /64, so that is what is counted. */
function bucketOf(address: string): string {
  const plain = address.replace(/^::ffff:/, '');
  if (!plain.includes(':')) return plain;
  const [head = ''] = plain.split('::');
  return [...head.split(':'), '0', '0', '0', '0'].slice(0, 4).join(':');
}
