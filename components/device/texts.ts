import type { Locale } from '#lib/i18n/locales';
import type en from '../../lib/i18n/messages/device/en.json';
import type zh from '../../lib/i18n/messages/device/zh.json';

/** A key that one of the languages lacks does not compile. */
export type DeviceTexts = typeof en & typeof zh;

/** Those of one language; the other is not loaded. */
export const loadTexts = async (locale: Locale): Promise<DeviceTexts> =>
  (locale === 'zh'
    ? await import('../../lib/i18n/messages/device/zh.json')
    : await import('../../lib/i18n/messages/device/en.json')
  ).default;

/** Puts values in the places of a text. */
export const fill = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replace(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place));
