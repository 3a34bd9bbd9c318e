import { doubled } from '#lib/net/backoff';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** After each attempt that failed, as Standard Webhooks has it; then a delivery is given up. */
const WAITS_MS = [
  5_000,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const;

export const MOST_ATTEMPTS = WAITS_MS.length + 1;

/** Up to this part of the wait is added, so that those that failed together do not come together again. */
const JITTER = 0.2;

/** No wait is longer, also where the wall clock was set back in between. */
export const LONGEST_WAIT_MS = 24 * HOUR * (1 + JITTER);

/** Milliseconds after so many failed attempts, from 1; undefined: there is no further one. `random` from 0 to 1. */
export function waitAfter(attempts: number, random: number): number | undefined {
  const wait = WAITS_MS[attempts - 1];
  return wait === undefined ? undefined : Math.round(wait * (1 + JITTER * random));
}

/** How long a target is left alone that was overloaded so many times in a row, from 1. */
export const slowFor = (times: number): number => doubled(5_000, times - 1, 5 * MINUTE);
