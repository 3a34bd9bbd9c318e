import { randomUUID } from 'node:crypto';

/**
 * An id that sorts by time: 48 bits of milliseconds and 80 random bits, in hex,
 * as ULID has them. Newer ids lie beside each other in an index, so that a
 * group of new rows touches a few pages instead of one each. No id is a secret.
 */
export function createNewId(now: () => number): (prefix: string) => string {
  return (prefix) => {
    const time = now().toString(16).padStart(12, '0');
    // Digits of a UUID that are all random; unlike other random bytes they come from a pool.
    const uuid = randomUUID();
    return `${prefix}_${time}${uuid.slice(0, 8)}${uuid.slice(-12)}`;
  };
}

/** When an id of that form was made, in milliseconds since the epoch. */
export const timeOfNewId = (prefix: string, id: string): number | undefined =>
  hasFormOfNewId(prefix, id)
    ? Number.parseInt(id.slice(prefix.length + 1).slice(0, 12), 16)
    : undefined;

/** Whether an id has the form that the server gives to those with this prefix. */
export const hasFormOfNewId = (prefix: string, id: string): boolean =>
  id.startsWith(`${prefix}_`) && /^[0-9a-f]{32}$/.test(id.slice(prefix.length + 1));
