'use client';

import { useTranslations } from 'next-intl';
import { MarkedText } from '#components/ui/marked-text';
import type { Card } from '#lib/protocol/card';

/** CD29: which arguments are not as they were written, on a card that has some. */
export function RepairsNote({ repairs }: Pick<Card, 'repairs'>) {
  const t = useTranslations('card.repairs');
  if (!repairs) return null;
  const { paths, count } = repairs;
  const names = paths.map((path) => (path === '' ? t('whole') : path)).join(t('separator'));
  const more = count - paths.length;
  return (
    <p className="mt-1.5 text-xs text-muted wrap-anywhere">
      {t('title')}
      <span className="mono">
        <MarkedText text={names} />
      </span>
      {more > 0 && t('more', { count: more })}
    </p>
  );
}
