'use client';

import { useRouter } from 'next/navigation';
import { useLocale } from 'next-intl';
import { LOCALE_COOKIE } from '#lib/i18n/locales';
import { savePreference } from '../providers/preference-cookie.ts';

/** Goes to the other language; the server draws the page anew, and nothing typed is lost. */
export function useOtherLanguage(): () => void {
  const router = useRouter();
  const other = useLocale().startsWith('zh') ? 'en' : 'zh';
  return () => {
    savePreference(document, LOCALE_COOKIE, other);
    router.refresh();
  };
}
