'use client';

import { useTranslations } from 'next-intl';
import { type RefObject, useEffect, useState } from 'react';
import { showToast } from '../ui/toast.ts';
import { guardClicks } from './guard-clicks.ts';

/**
 * Keeps clicks that were meant for one call from deciding on another, in a list whose cards move
 * (AP13). Returns whether the list is to hold still: a pointer or the focus is over a decision.
 */
export function useSteadyDecisions(within: RefObject<HTMLElement | null>): boolean {
  const t = useTranslations('card.list');
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    const element = within.current;
    if (!element) return;
    return guardClicks(element, { onRefused: () => showToast(t('moved')), onHold: setHeld });
  }, [within, t]);
  return isHeld;
}
