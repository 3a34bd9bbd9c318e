/**
 * Characters that people do not see and models read: tag characters, zero
 * widths, line separators, changes of direction, byte order marks. Instructions
 * are hidden in them.
 */
const INVISIBLE =
  /[\u{E0000}-\u{E007F}\u200B-\u200F\u2028-\u202E\u2060-\u2064\u2066-\u2069\uFEFF]/gu;

export const stripInvisible = (text: string): string => text.replace(INVISIBLE, '');

/** The same for every text of a JSON value, keys too; a value without any comes back as it is. */
export function stripInvisibleDeep(value: unknown): unknown {
  if (JSON.stringify(value)?.search(INVISIBLE) === -1) return value;
  return strip(value);
}

function strip(value: unknown): unknown {
  if (typeof value === 'string') return stripInvisible(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(strip);
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [stripInvisible(key), strip(one)]),
  );
}
