import { createHmac } from 'node:crypto';

/**
 * The id that these parts always give, also after a restart. `key` is of the data directory, so
 * that no caller can make the id, and take it before the one whom it is for.
 */
export function keyedId(key: string, prefix: string, parts: readonly string[]): string {
  const digest = createHmac('sha256', key).update(JSON.stringify([prefix, ...parts]));
  return `${prefix}_${digest.digest('base64url').slice(0, 32)}`;
}
