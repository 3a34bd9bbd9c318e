import { useTranslations } from 'next-intl';

export function SkipLink() {
  const t = useTranslations('shell');
  return (
    <a
      href="#content"
      className="btn sr-only focus:not-sr-only focus:fixed focus:left-2 focus:top-2 focus:z-50"
    >
      {t('skip')}
    </a>
  );
}
