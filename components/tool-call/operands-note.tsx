'use client';

import { useTranslations } from 'next-intl';
import type { Card } from '#lib/protocol/card';
import { NamesNote } from './names-note.tsx';

/** CD40: what the arguments refer to, such as files, which a yes is for as it is now. */
export function OperandsNote({ operands }: { operands: Card['approval_operands'] }) {
  const t = useTranslations('card.operands');
  if (!operands) return null;
  const { first, count } = operands;
  const names = first
    .map(({ name, hash }) => (hash === undefined ? name : t('hashed', { name, hash })))
    .join(t('separator'));
  const more = count - first.length;
  return (
    <NamesNote
      title={t('title')}
      names={names}
      more={more > 0 ? t('more', { count: more }) : null}
    />
  );
}
