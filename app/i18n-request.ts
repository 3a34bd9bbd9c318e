import { cookies, headers } from 'next/headers';
import { getRequestConfig } from 'next-intl/server';
import { catalogue } from '#lib/i18n/catalogue';
import { LANGUAGE_TAGS, LOCALE_COOKIE, negotiateLocale } from '#lib/i18n/locales';

/** Language without a part of the address: by cookie, else by the browser's preference. */
export default getRequestConfig(async () => {
  const [jar, sent] = await Promise.all([cookies(), headers()]);
  const language = negotiateLocale(jar.get(LOCALE_COOKIE)?.value, sent.get('accept-language'));
  return { locale: LANGUAGE_TAGS[language], messages: catalogue[language] };
});
