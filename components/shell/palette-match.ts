const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');

/** Those that the server found are shown as they come. */
export const FOUND_PREFIX = 'found:';

/**
 * How well a name fits what was typed: 1 where it has all of it, less where each word begins a word of it or
 * of what is written beside it, 0 for letters that are only scattered over it.
 */
export function matchPalette(name: string, typed: string, beside: readonly string[] = []): number {
  if (name.startsWith(FOUND_PREFIX)) return 1;
  const search = typed.trim().toLowerCase();
  if (name.toLowerCase().includes(search)) return 1;
  const words = wordsOf([name, ...beside].join(' '));
  const wanted = wordsOf(search);
  const isBegun = (part: string) => words.some((word) => word.startsWith(part));
  return wanted.length > 0 && wanted.every(isBegun) ? 0.5 : 0;
}
