'use client';

import {
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useSyncExternalStore,
} from 'react';
import {
  changeKept,
  forgetText,
  type KeptText,
  keepText,
  keptTextOf,
  type Unsent,
  unsentOf,
  watchKeptTexts,
} from './kept-texts.ts';

/**
 * Keeps what is written or chosen in `within`, for one call, for as long as it is neither sent nor left.
 * A text field that comes anew in the place of one that had the focus takes it over.
 */
export function useKeepText(
  callId: string | null,
  within: RefObject<HTMLElement | null>,
  { of, text, chosen, about }: Unsent,
): void {
  useEffect(() => {
    if (callId === null) return;
    if (text === '') forgetText(callId);
    else {
      const more = {
        ...(chosen !== undefined && { chosen }),
        ...(about !== undefined && { about }),
      };
      keepText(callId, { of, text, ...more });
    }
  }, [callId, of, text, chosen, about]);
  useLayoutEffect(() => {
    const field = within.current?.querySelector('textarea');
    if (callId === null || !field) return;
    const caret = unsentOf(callId, of)?.caret ?? null;
    if (caret !== null) focusAt(field, caret);
    // Runs before the field is taken out of the page, while it still has the focus.
    return () => {
      if (document.activeElement !== field) return;
      changeKept(callId, { caret: field.selectionStart });
      // For what comes in its place now: a page that is opened later takes no focus.
      queueMicrotask(() => changeKept(callId, { caret: null }));
    };
  }, [callId, of, within]);
}

export function focusAt(field: HTMLTextAreaElement, caret: number): void {
  field.focus({ preventScroll: true });
  field.setSelectionRange(caret, caret);
}

export function useKeptText(callId: string): KeptText | null {
  const get = useCallback(() => keptTextOf(callId), [callId]);
  return useSyncExternalStore(watchKeptTexts, get, get);
}
