export const LOCALES = ['en', 'zh'] as const;
export type Locale = (typeof LOCALES)[number];

const DEFAULT_LOCALE: Locale = 'en';

export const LOCALE_COOKIE = 'locale';
export const THEME_COOKIE = 'theme';

/** BCP 47 tag for `lang` and `Intl`. */
export const LANGUAGE_TAGS: Record<Locale, string> = { en: 'en', zh: 'zh-CN' };

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export const toTheme = (value: string | undefined): Theme =>
  THEMES.find((theme) => theme === value) ?? 'system';

/** The person's choice, else the first language of their browser that we speak, else English. */
export function negotiateLocale(
  chosen: string | undefined,
  acceptLanguage: string | null | undefined,
): Locale {
  const known = LOCALES.find((locale) => locale === chosen);
  return known ?? preferredLanguages(acceptLanguage ?? '')[0] ?? DEFAULT_LOCALE;
}

/** Our languages in a browser's order of preference; `q=0` refuses one (RFC 9110, 12.5.4). */
function preferredLanguages(header: string): Locale[] {
  return header
    .split(',')
    .map((entry) => {
      const [tag = '', ...params] = entry.split(';');
      const q = params.map((param) => param.trim()).find((param) => param.startsWith('q='));
      const primary = tag.trim().toLowerCase().split('-')[0];
      return { primary, weight: q === undefined ? 1 : Number(q.slice(2)) };
    })
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight)
    .flatMap(({ primary }) => LOCALES.filter((locale) => locale === primary));
}

/** Sentences one after the other; Chinese has no space after its full stop. `locale` is a BCP 47 tag. */
export const joinSentences = (sentences: readonly (string | null)[], locale: string): string =>
  sentences.filter((sentence) => sentence !== null).join(locale.startsWith('zh') ? '' : ' ');
