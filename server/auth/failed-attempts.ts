import { Counts } from '#lib/limits/counts';
import { TokenBuckets } from '#lib/limits/token-bucket';
import { type Clock, pause } from '../base/clock.ts';
import { networkOf } from './peer.ts';

const LIMITS = {
  /** So many wrong credentials of one network are answered at once; they come back evenly over a window. */
  count: 20,
  windowMs: 60_000,
  /** How long the answer to each further one is held back. */
  holdMs: 1_000,
  /**
   * So many of one network are held back; the rest is answered at once, which costs no memory.
   * Below what one network may have of upgrades in waiting, so that the right token finds a place.
   */
  maxHeld: 16,
  /** Networks that are remembered. */
  maxNetworks: 10_000,
};
export type AttemptLimits = Partial<typeof LIMITS>;

export type FailedAttempts = ReturnType<typeof createFailedAttempts>;

/**
 * Counts wrong credentials by the network that they come from, loopback included. It bounds the
 * work that they make, and slows who sends them. The right credential is never counted here, so
 * that others of the same network cannot lock it out. The length of the token is what stands
 * against guessing.
 */
export function createFailedAttempts(clock: Clock, limits: AttemptLimits = {}) {
  const { count, windowMs, holdMs, maxHeld, maxNetworks } = { ...LIMITS, ...limits };
  const rate = { burst: count, perSecond: (count * 1_000) / windowMs };
  const buckets = new TokenBuckets(rate, clock.now, maxNetworks);
  const held = new Counts();
  return {
    /**
     * Counts one. Undefined while there are few; else the seconds to wait, which are given only
     * after a while. `of` names what is asked there, where each is counted by itself.
     */
    async count(address: string, of = ''): Promise<number | undefined> {
      const source = `${networkOf(address)} ${of}`;
      const retryAfter = buckets.take(source);
      const release = retryAfter === undefined ? undefined : held.enter(source, maxHeld);
      if (!release) return retryAfter;
      await pause(clock, holdMs);
      release();
      return retryAfter;
    },
  };
}
