'use client';

import { useLocale, useTranslations } from 'next-intl';
import { Button } from '../ui/button.tsx';
import { useOtherLanguage } from './use-language.ts';

/** Named in the language that it leads to, for those who cannot read this one. */
export function LanguageButton() {
  const t = useTranslations('shell.language');
  const goes = useLocale().startsWith('zh') ? 'en' : 'zh-CN';
  return (
    <Button variant="ghost" lang={goes} aria-label={t('label')} onClick={useOtherLanguage()}>
      {t('switch')}
    </Button>
  );
}
