'use client';

import { useTranslations } from 'next-intl';
import { MarkedText } from '#components/ui/marked-text';
import type { Card } from '#lib/protocol/card';

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
    <p className="mt-1.5 text-xs text-muted wrap-anywhere">
      {t('title')}
      <span className="mono">
        <MarkedText text={names} />
      </span>
      {more > 0 && t('more', { count: more })}
    </p>
  );
}
