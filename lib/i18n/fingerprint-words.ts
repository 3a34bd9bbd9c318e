import en from './messages/fingerprint/en.json';
import zh from './messages/fingerprint/zh.json';

/**
 * 256 words for each language, by which people compare numbers from 0 to 255. Their places never
 * change: two screens show the same word for the same number.
 */
const WORDS: Readonly<Record<'en' | 'zh', readonly string[]>> = { en, zh };

/** The words of a fingerprint (`workbench.fingerprint`), in order. */
export const fingerprintWords = (numbers: readonly number[], locale: 'en' | 'zh'): string[] =>
  numbers.map((number) => WORDS[locale][number] ?? '?');
