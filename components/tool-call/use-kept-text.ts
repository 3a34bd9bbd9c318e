'use client';

import {
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useSyncExternalStore,
} from 'react';
import { forgetText, type KeptText, keepText, keptTextOf, watchKeptTexts } from './kept-texts.ts';

/** Keeps what is written in the text field of `within`, for one call, for as long as it is neither sent nor left. */
export function useKeepText(
  callId: string | null,
  within: RefObject<HTMLElement | null>,
  text: string,
): void {
  useEffect(() => {
    if (callId === null) return;
    if (text === '') forgetText(callId);
    else keepText(callId, { text, caret: null });
  }, [callId, text]);
  useLayoutEffect(() => {
    const field = within.current?.querySelector('textarea');
    // Runs before the field is taken out of the page, while it still has the focus.
    return () => {
      if (callId === null || !field || document.activeElement !== field) return;
      if (!keptTextOf(callId)) return;
      keepText(callId, { caret: field.selectionStart });
    };
  }, [callId, within]);
}

export function useKeptText(callId: string): KeptText | null {
  const get = useCallback(() => keptTextOf(callId), [callId]);
  return useSyncExternalStore(watchKeptTexts, get, get);
}
