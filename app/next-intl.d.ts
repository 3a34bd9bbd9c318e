import type { catalogue } from '#lib/i18n/catalogue';

declare module 'next-intl' {
  interface AppConfig {
    /** Keys are checked; both languages have the same ones. */
    Messages: (typeof catalogue)['en'];
  }
}
