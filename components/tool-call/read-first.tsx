'use client';

import { useTranslations } from 'next-intl';

export interface ReadFirstProps {
  id: string;
  isReady: boolean;
  /** What is to be read scrolls: that its end was reached is then announced. */
  isLong: boolean;
  /** It can be folded as well. */
  canFold?: boolean;
}

/** Why a call cannot be allowed yet, and, for those who listen, that now it can. */
export function ReadFirst({ id, isReady, isLong, canFold = false }: ReadFirstProps) {
  const t = useTranslations('card.approval');
  return (
    <p id={id} role="status" className={isReady ? 'sr-only' : 'mt-1 text-xs text-wait'}>
      {isReady ? isLong && t('readDone') : t(canFold ? 'readOrFold' : 'readFirst')}
    </p>
  );
}
