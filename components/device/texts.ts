import type { SameKeys } from '#lib/i18n/area-messages';
import type { Locale } from '#lib/i18n/locales';
import type { en } from '#lib/i18n/messages/device/en';

export type DeviceTexts = SameKeys<typeof en>;

/** Those of one language; the other is not loaded. */
export const loadTexts = async (locale: Locale): Promise<DeviceTexts> =>
  locale === 'zh'
    ? (await import('#lib/i18n/messages/device/zh')).zh
    : (await import('#lib/i18n/messages/device/en')).en;

/** Puts values in the places of a text. */
export const fill = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replace(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place));
