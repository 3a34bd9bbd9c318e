/** Sentences one after the other; Chinese has no space after its full stop. `locale` is a BCP 47 tag. */
export const joinSentences = (sentences: readonly (string | null)[], locale: string): string =>
  sentences.filter((sentence) => sentence !== null).join(locale.startsWith('zh') ? '' : ' ');
