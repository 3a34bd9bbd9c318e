import { type Clock, pause } from '../base/clock.ts';

export interface AttemptLimits {
  /** Wrong credentials of one address in a window that are answered at once. */
  readonly count: number;
  readonly windowMs: number;
  /** How long the answer to each further one is held back. */
  readonly holdMs: number;
  /** Of one address; the rest is answered at once, so that holding back costs no memory. */
  readonly maxHeld: number;
  /** Addresses that are remembered. */
  readonly maxAddresses: number;
}

const LIMITS: AttemptLimits = {
  count: 20,
  windowMs: 60_000,
  holdMs: 1_000,
  // Below what one address may have of upgrades in waiting, so that the right token finds a place.
  maxHeld: 16,
  maxAddresses: 10_000,
};

export type FailedAttempts = ReturnType<typeof createFailedAttempts>;

/**
 * Wrong credentials by address, loopback included. It bounds the work that they
 * make, and slows who sends them. The right credential is never counted here, so
 * that others of the same address cannot lock it out. Against guessing there is
 * the length of the token.
 */
export function createFailedAttempts(clock: Clock, limits: Partial<AttemptLimits> = {}) {
  const { count, windowMs, holdMs, maxHeld, maxAddresses } = { ...LIMITS, ...limits };
  /** By address, oldest first. */
  const windows = new Map<string, Window>();

  /** Ended windows are in front, since all are of one length. Over the limit the oldest goes. */
  const sweep = () => {
    const now = clock.now();
    for (const [address, { endsAt }] of windows) {
      if (endsAt > now && windows.size < maxAddresses) return;
      windows.delete(address);
    }
  };

  const windowOf = (address: string, of: string): Window => {
    const bucket = `${bucketOf(address)} ${of}`;
    const known = windows.get(bucket);
    if (known && known.endsAt > clock.now()) return known;
    windows.delete(bucket);
    sweep();
    const made = { count: 0, held: 0, endsAt: clock.now() + windowMs };
    windows.set(bucket, made);
    return made;
  };

  const hold = async (window: Window): Promise<void> => {
    if (window.held >= maxHeld) return;
    window.held += 1;
    await pause(clock, holdMs);
    window.held -= 1;
  };

  return {
    /**
     * Counts one. Undefined while there are few; else the seconds to wait, given
     * only after a while. `of`: who asks there, where each of them is counted by itself.
     */
    async count(address: string, of = ''): Promise<number | undefined> {
      const window = windowOf(address, of);
      window.count += 1;
      if (window.count <= count) return undefined;
      const retryAfter = Math.max(1, Math.ceil((window.endsAt - clock.now()) / 1_000));
      await hold(window);
      return retryAfter;
    },
  };
}

interface Window {
  count: number;
  held: number;
  readonly endsAt: number;
}

/** One subscriber owns a whole IPv6 /64, so that is what is counted. */
function bucketOf(address: string): string {
  const plain = address.replace(/^::ffff:/, '');
  if (!plain.includes(':')) return plain;
  const [head = ''] = plain.split('::');
  return [...head.split(':'), '0', '0', '0', '0'].slice(0, 4).join(':');
}
