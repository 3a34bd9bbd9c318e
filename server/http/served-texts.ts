import type { Locale } from '#lib/i18n/locales';
import en from '../../lib/i18n/messages/served/en.json' with { type: 'json' };
import zh from '../../lib/i18n/messages/served/zh.json' with { type: 'json' };

/** The texts of the pages that the server writes by itself. In the steps of a guide `{file}` and `{profile}` are links. */
export const TEXTS = { en, zh } satisfies Record<Locale, typeof en & typeof zh>;
