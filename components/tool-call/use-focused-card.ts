'use client';

import { type RefObject, useEffect, useState } from 'react';

/** Id of the listed call whose card has the focus, or has it inside. */
export function useFocusedCard(within: RefObject<HTMLElement | null>): string | null {
  const [callId, setCallId] = useState<string | null>(null);
  useEffect(() => {
    const element = within.current;
    if (!element) return;
    const onIn = (event: FocusEvent) => setCallId(callIdAt(event.target));
    const onOut = () => setCallId(null);
    element.addEventListener('focusin', onIn);
    element.addEventListener('focusout', onOut);
    return () => {
      element.removeEventListener('focusin', onIn);
      element.removeEventListener('focusout', onOut);
    };
  }, [within]);
  return callId;
}

/**
 * Focus that was on something in a card which went away, or can do no more,
 * stays on the card, or goes to the one in its place: those who use the keyboard are not sent to the top.
 */
export function useFocusStays(within: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = within.current;
    if (!element) return;
    const cards = () => [...element.querySelectorAll<HTMLElement>(CARD)];
    let last: { at: HTMLElement; card: HTMLElement; index: number } | null = null;
    const isUnusable = (at: HTMLElement) => !at.isConnected || at.matches(':disabled');
    const onIn = ({ target }: FocusEvent) => {
      const at = target instanceof HTMLElement && element.contains(target) ? target : null;
      const card = at?.closest<HTMLElement>(CARD);
      last = at && card ? { at, card, index: cards().indexOf(card) } : null;
    };
    const onOut = ({ target }: FocusEvent) => {
      // What is taken out of the page fires this before it is out of it.
      queueMicrotask(() => {
        if (last && last.at === target && !isUnusable(last.at)) last = null;
      });
    };
    const check = () => {
      if (!last || !isUnusable(last.at)) return;
      const { activeElement } = document;
      const { at, card, index } = last;
      last = null;
      if (activeElement === document.body || activeElement === at) {
        const heir = card.isConnected ? card : cards().at(index);
        (heir ?? cards().at(-1))?.focus({ preventScroll: true });
      }
    };
    const observer = new MutationObserver(check);
    observer.observe(element, { subtree: true, childList: true, attributeFilter: ['disabled'] });
    document.addEventListener('focusin', onIn);
    element.addEventListener('focusout', onOut);
    return () => {
      observer.disconnect();
      document.removeEventListener('focusin', onIn);
      element.removeEventListener('focusout', onOut);
    };
  }, [within]);
}

const CARD = '[data-testid="tool-card"]';
/** Of the list: in a card there may be others, which have no place in it. */
const ITEM = '[aria-posinset]';

const callIdAt = (target: EventTarget | null): string | null =>
  target instanceof Element
    ? (target.closest(ITEM)?.querySelector<HTMLElement>(CARD)?.dataset.callId ?? null)
    : null;
