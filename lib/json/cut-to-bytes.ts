const encoder = new TextEncoder();

/** The longest beginning of `text` that fits into `maxBytes` of UTF-8, cut between code points. */
export function cutToBytes(text: string, maxBytes: number): string {
  // A UTF-16 unit takes at most three bytes, so a short text need not be encoded.
  if (text.length * 3 <= maxBytes) return text;
  return text.slice(0, encoder.encodeInto(text, new Uint8Array(Math.max(0, maxBytes))).read);
}

/** The same, and the cut is visible: `[cut: n of m characters]`, with n of m characters kept. */
export function cutAndMark(text: string, maxBytes: number): string {
  if (cutToBytes(text, maxBytes).length === text.length) return text;
  const total = text.length;
  const kept = cutToBytes(text, maxBytes - marker(total, total).length);
  return `${kept}${marker(kept.length, total)}`;
}

const marker = (kept: number, total: number): string => `\n[cut: ${kept} of ${total} characters]`;

/**
 * Keeps of a text over `maxBytes` of UTF-8 the beginning and the end, three quarters and one quarter of
 * `keptBytes`, cut between code points. Undefined where the text has no more than `maxBytes`.
 */
export function headAndTail(
  text: string,
  maxBytes: number,
  keptBytes: number,
): { readonly head: string; readonly tail: string } | undefined {
  if (cutToBytes(text, maxBytes).length === text.length) return undefined;
  const kept = Math.max(0, keptBytes);
  const tailBytes = Math.floor(kept / 4);
  const bytes = encoder.encode(text);
  let start = bytes.length - tailBytes;
  // A byte 10xxxxxx continues a character, so a cut before one would split it.
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  const tail = new TextDecoder().decode(bytes.subarray(start));
  return { head: cutToBytes(text, kept - tailBytes), tail };
}
