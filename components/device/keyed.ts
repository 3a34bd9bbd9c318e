/** Texts that may be the same have no name of their own but their place, which does not change. */
export const keyed = (texts: readonly string[]): { key: string; at: number; text: string }[] =>
  texts.map((text, at) => ({ key: `place-${at}`, at, text }));
