'use client';

import { useEffect, useRef } from 'react';
import { callOfHash } from '#lib/call/call-address';
import { useRevealCall, useRevealedCall } from '../providers/workbench-context.tsx';

/** Frames to wait for a card to be drawn after the list was scrolled to it. */
const FRAMES = 180;
/** A list that scrolls far draws a card to measure it, and once more where it comes to rest. */
const STEADY_FRAMES = 20;

/** A list that was just drawn has no size yet, and does not scroll: it is asked again. */
const SCROLL_EVERY_FRAMES = 15;

let newest = 0;

/** As much of the card as has room is in sight. */
function isInSight(card: HTMLElement, within: HTMLElement): boolean {
  const [{ top, bottom }, box] = [card.getBoundingClientRect(), within.getBoundingClientRect()];
  const isWhole = top >= box.top - 1 && bottom <= box.bottom + 1;
  return isWhole || (top <= box.top + 1 && bottom >= box.bottom - 1);
}

/**
 * Scrolls to a card, focuses it as soon as it can take the focus (one that is not measured yet is
 * hidden), and keeps it in sight until the list has come to rest or the person goes on to something
 * else: heights above it change as they are measured.
 */
export function focusCard(within: HTMLElement | null, callId: string, scrollTo: () => void): void {
  newest += 1;
  const mine = newest;
  // The focus alone says nothing: a dialog that closes gives it back to where it was.
  const acts = new AbortController();
  for (const type of ['pointerdown', 'keydown', 'wheel']) {
    const options = { capture: true, passive: true, signal: acts.signal };
    window.addEventListener(type, () => acts.abort(), options);
  }
  const selector = `[data-call-id="${CSS.escape(callId)}"]`;
  const check = (left: number, held: number) => {
    const isOver = left === 0 || held === STEADY_FRAMES || mine !== newest;
    if (isOver || acts.signal.aborted) return acts.abort();
    const card = within?.querySelector<HTMLElement>(selector);
    const has = card?.contains(document.activeElement) ?? false;
    if (!card && left % SCROLL_EVERY_FRAMES === 0) scrollTo();
    if (card && !has) card.focus({ preventScroll: true });
    const isSeen = card && within ? isInSight(card, within) : true;
    if (!isSeen) card?.scrollIntoView({ block: 'nearest' });
    requestAnimationFrame(() => check(left - 1, has && isSeen ? held + 1 : 0));
  };
  scrollTo();
  check(FRAMES, 0);
}

/** Shows the card that an address (`#call=…`) or another part of the page wishes to see. */
export function useReveal(show: (callId: string) => boolean): void {
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

  // Also when the list changes, and `show` with it: the wish may come before its call does.
  useEffect(() => {
    if (callId === null || shownNonce.current === nonce) return;
    if (show(callId)) shownNonce.current = nonce;
  }, [callId, nonce, show]);
}
