/** The longest beginning of `text` that fits into `maxBytes` of UTF-8, cut between code points. */
export function cutToBytes(text: string, maxBytes: number): string {
  const bytes = bytesBeyond(text, maxBytes);
  return bytes ? keepBytes(bytes, maxBytes) : text;
}

/** The same, and the cut is visible: `[cut: n of m characters]`, with n of m characters kept. */
export function cutAndMark(text: string, maxBytes: number): string {
  const bytes = bytesBeyond(text, maxBytes);
  if (!bytes) return text;
  const total = text.length;
  const longestMarker = marker(total, total).length;
  const kept = keepBytes(bytes, Math.max(0, maxBytes - longestMarker));
  return `${kept}${marker(kept.length, total)}`;
}

/**
 * Keeps of a text over `maxBytes` of UTF-8 the beginning and the end, three quarters and one quarter of
 * `keptBytes`, cut between code points. Undefined where the text has no more than `maxBytes`.
 */
export function headAndTail(
  text: string,
  maxBytes: number,
  keptBytes: number,
): { readonly head: string; readonly tail: string } | undefined {
  const bytes = bytesBeyond(text, maxBytes);
  if (!bytes) return undefined;
  const kept = Math.max(0, keptBytes);
  const tailBytes = Math.floor(kept / 4);
  let start = bytes.length - tailBytes;
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  const tail = new TextDecoder().decode(bytes.subarray(start));
  return { head: keepBytes(bytes, kept - tailBytes), tail };
}

/** The text as UTF-8, where it has more than `maxBytes`. */
function bytesBeyond(text: string, maxBytes: number): Uint8Array | undefined {
  // A UTF-16 unit takes at most three bytes, so a short text need not be encoded.
  if (text.length * 3 <= maxBytes) return undefined;
  const bytes = new TextEncoder().encode(text);
  return bytes.length > maxBytes ? bytes : undefined;
}

const marker = (kept: number, total: number): string => `\n[cut: ${kept} of ${total} characters]`;

/** A byte 10xxxxxx continues a character, so a cut before one would split it. */
function keepBytes(bytes: Uint8Array, count: number): string {
  let end = count;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return new TextDecoder().decode(bytes.subarray(0, end));
}
