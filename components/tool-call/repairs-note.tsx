'use client';

import { useTranslations } from 'next-intl';
import type { Card } from '#lib/protocol/card';
import { NamesNote } from './names-note.tsx';

/** CD29: which arguments are not as they were written, on a card that has some. */
export function RepairsNote({ repairs }: Pick<Card, 'repairs'>) {
  const t = useTranslations('card.repairs');
  if (!repairs) return null;
  const { paths, count } = repairs;
  const names = paths.map((path) => (path === '' ? t('whole') : path)).join(t('separator'));
  const more = count - paths.length;
  return (
    <NamesNote
      title={t('title')}
      names={names}
      more={more > 0 ? t('more', { count: more }) : null}
    />
  );
}
