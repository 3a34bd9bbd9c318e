'use client';

import { useLocale, useTranslations } from 'next-intl';
import { formatBytes } from '#lib/format/amounts';
import { wholeBytes } from '#lib/json/cut-json';

/** How the whole is had of a value that is shown by its beginning. */
export interface Whole {
  readonly bytes: number;
  readonly open: () => void;
  readonly download: () => void;
}

/** A note that what is shown is a part, and of how much. */
export function PartNote({ shown, whole }: { shown: unknown; whole: Whole }) {
  const t = useTranslations('card');
  const locale = useLocale();
  const sizes = {
    shown: formatBytes(wholeBytes(shown), locale),
    total: formatBytes(whole.bytes, locale),
  };
  return (
    <p data-testid="part-note" className="mt-1 flex flex-wrap items-baseline gap-x-3 text-xs">
      <span className="text-muted">{t('result.partial', sizes)}</span>
      <button type="button" className="link-button" onClick={whole.open}>
        {t('action.openWhole')}
      </button>
      <button type="button" className="link-button" onClick={whole.download}>
        {t('action.download')}
      </button>
    </p>
  );
}
