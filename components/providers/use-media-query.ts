'use client';

import { useSyncExternalStore } from 'react';

/** Whether the query holds now; false while the server draws. */
function useMediaQuery(query: string): boolean {
  return useSyncExternalStore(
    (onChange) => {
      const list = matchMedia(query);
      list.addEventListener('change', onChange);
      return () => list.removeEventListener('change', onChange);
    },
    () => matchMedia(query).matches,
    () => false,
  );
}

/** One column and a tab bar instead of two panels. */
export const useIsNarrow = (): boolean => useMediaQuery('(width < 48rem)');
