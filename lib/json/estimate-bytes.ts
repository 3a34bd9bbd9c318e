/** What quotes, a colon and a comma, or an object's own memory, add to each value. */
const PER_VALUE = 8;

/**
 * About how many bytes a JSON value takes as text, without making the text:
 * the characters of its strings and keys, and a little for everything else. It
 * may be too low by a factor of three, for text whose characters take several bytes.
 * Reads no more of the value than `most`: some number above it then means "more".
 */
export function estimateJsonBytes(value: unknown, most = Number.POSITIVE_INFINITY): number {
  let bytes = 0;
  const waiting: unknown[] = [value]; // A stack of its own: the depth of a value is not ours.
  while (waiting.length > 0 && bytes <= most) {
    const next = waiting.pop();
    bytes += PER_VALUE;
    if (typeof next === 'string') {
      bytes += next.length;
    } else if (Array.isArray(next)) {
      for (const item of next) waiting.push(item);
    } else if (typeof next === 'object' && next !== null) {
      for (const [key, item] of Object.entries(next)) {
        bytes += key.length;
        waiting.push(item);
      }
    }
  }
  return bytes;
}
