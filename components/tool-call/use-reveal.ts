'use client';

import { useEffect, useRef } from 'react';
import { useRevealCall, useRevealedCall } from '../providers/workbench-context.tsx';
import { callOfHash } from './focus-call.ts';

/** Frames to wait for a card to be drawn after the list was scrolled to it. */
const FRAMES = 30;

/** Focuses a card as soon as it is in the page. */
export function focusCard(within: HTMLElement | null, callId: string, frames = FRAMES): void {
  const card = within?.querySelector<HTMLElement>(`[data-call-id="${CSS.escape(callId)}"]`);
  if (card) card.focus({ preventScroll: true });
  else if (frames > 0) requestAnimationFrame(() => focusCard(within, callId, frames - 1));
}

/** Shows the card that an address (`#call=…`) or another part of the page wishes to see. */
export function useReveal(ids: readonly string[], show: (callId: string) => boolean): void {
  const { callId, nonce } = useRevealedCall();
  const reveal = useRevealCall();
  const shownNonce = useRef(0);

  useEffect(() => {
    const follow = () => {
      const wanted = callOfHash(window.location.hash);
      if (wanted !== null) reveal(wanted);
    };
    follow();
    window.addEventListener('hashchange', follow);
    return () => window.removeEventListener('hashchange', follow);
  }, [reveal]);

  // Also when the list changes: the wish may come before its call does.
  useEffect(() => {
    if (callId === null || shownNonce.current === nonce || ids.length === 0) return;
    if (show(callId)) shownNonce.current = nonce;
  }, [callId, nonce, ids, show]);
}
