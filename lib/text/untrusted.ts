/**
 * Text of others as a model is given it, between two tags with a boundary that the text does not
 * hold: no text can end its own mark. The same text gives the same mark, so that a prompt stays the
 * same from one request to the next, over a restart too.
 */
export function markUntrusted(text: string): string {
  const boundary = boundaryFor(text);
  return `<untrusted ${boundary}>\n${text}\n</untrusted ${boundary}>`;
}

/** The mark adds so much at most; its characters are bytes. */
export const MARK_BYTES = 2 * '</untrusted 0123456789abcdef>\n'.length;

const MARKED = /^<untrusted ([0-9a-f]{16})>\n([\s\S]*)\n<\/untrusted \1>$/;

/** The text within the mark; any other text as it is. */
export const withoutMark = (text: string): string => MARKED.exec(text)?.[2] ?? text;

function boundaryFor(text: string): string {
  for (let seed = 0; ; seed += 1) {
    const boundary = hex(mixed(text, seed)) + hex(mixed(text, ~seed));
    // A hash alone could be met on purpose.
    if (!text.includes(boundary)) return boundary;
  }
}

/** Each bit of the text changes about half of the 32; no secret rests on it. */
function mixed(text: string, seed: number): number {
  let hash = seed ^ 0x9e3779b9;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x85ebca6b);
    hash ^= hash >>> 13;
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

const hex = (number: number): string => number.toString(16).padStart(8, '0');
