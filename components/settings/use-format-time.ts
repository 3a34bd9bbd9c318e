'use client';

import { useLocale } from 'next-intl';
import { useMemo } from 'react';

/** Date and time of Unix seconds, in the person's language and zone. */
export function useFormatTime(style: 'short' | 'medium' = 'short'): (seconds: number) => string {
  const locale = useLocale();
  return useMemo(() => {
    const format = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: style });
    return (seconds) => format.format(seconds * 1_000);
  }, [locale, style]);
}
