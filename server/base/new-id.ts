import { randomFillSync } from 'node:crypto';

/** So many random bytes are asked for at once: a call for each id costs more than the id. */
const POOL_BYTES = 4_096;
const RANDOM_BYTES = 8;
/** The ids of one millisecond are numbered. */
const MOST_NUMBERS = 0x1_0000;

/**
 * An id that sorts by time: 48 bits of milliseconds, 16 bits that number those of one
 * millisecond, and 64 random bits, in hex. Newer ids lie beside each other in an index, so that a
 * group of new rows touches a few pages instead of one each. No id is a secret.
 */
export function createNewId(now: () => number): (prefix: string) => string {
  const pool = Buffer.alloc(POOL_BYTES);
  let used = POOL_BYTES;
  let last = Number.NaN;
  let number = 0;
  return (prefix) => {
    if (used === POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    const random = pool.toString('hex', used, used + RANDOM_BYTES);
    used += RANDOM_BYTES;
    const time = now();
    number = time === last ? (number + 1) % MOST_NUMBERS : 0;
    last = time;
    return `${prefix}_${toHex(time, 12)}${toHex(number, 4)}${random}`;
  };
}

const toHex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');

/** When an id of that form was made, in milliseconds since the epoch. */
export const timeOfNewId = (prefix: string, id: string): number | undefined =>
  hasFormOfNewId(prefix, id)
    ? Number.parseInt(id.slice(prefix.length + 1).slice(0, 12), 16)
    : undefined;

/** Says whether an id has the form that the server gives to those with this prefix. */
export const hasFormOfNewId = (prefix: string, id: string): boolean =>
  id.startsWith(`${prefix}_`) && /^[0-9a-f]{32}$/.test(id.slice(prefix.length + 1));
