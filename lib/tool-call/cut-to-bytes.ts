/**
 * Cuts text to at most `maxBytes` of UTF-8, between code points, and says so:
 * `[cut: n of m characters]`, where n characters of m are kept.
 */
export function cutToBytes(text: string, maxBytes: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= maxBytes) return text;
  const total = text.length;
  const longestMarker = marker(total, total).length;
  const kept = keepBytes(bytes, Math.max(0, maxBytes - longestMarker));
  return `${kept}${marker(kept.length, total)}`;
}

const marker = (kept: number, total: number): string => `\n[cut: ${kept} of ${total} characters]`;

/** A byte 10xxxxxx continues a character, so a cut before one would split it. */
function keepBytes(bytes: Uint8Array, count: number): string {
  let end = count;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return new TextDecoder().decode(bytes.subarray(0, end));
}
