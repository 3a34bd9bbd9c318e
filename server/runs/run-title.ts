const LONGEST_TITLE = 60;

/** A run is called by its first words, on one line, at most 60 characters. */
export function runTitle(input: string): string {
  const words = Array.from(input.replace(/\s+/g, ' ').trim());
  return words.length <= LONGEST_TITLE
    ? words.join('')
    : `${words
        .slice(0, LONGEST_TITLE - 1)
        .join('')
        .trimEnd()}…`;
}
