'use client';

import { type RefObject, useLayoutEffect, useRef } from 'react';

/**
 * For what disappears once a person, or another one, has decided: where it had the focus, what is
 * around it and can have it (`tabIndex={-1}`) gets it. Else it falls back to the start of the page.
 */
export function useFocusStays<T extends HTMLElement>(): RefObject<T | null> {
  const own = useRef<T>(null);
  useLayoutEffect(() => {
    const element = own.current;
    const around = element?.parentElement?.closest<HTMLElement>('[tabindex="-1"]');
    return () => {
      // It is still in the document at this time.
      if (element?.contains(document.activeElement)) around?.focus();
    };
  }, []);
  return own;
}
