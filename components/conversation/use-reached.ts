'use client';

import { type RefObject, useEffect } from 'react';

/** So far below and above what is in sight something counts as reached. */
const MARGIN = '400px';

/** Calls back once the element comes near to what is in sight, while `isWanted`. */
export function useReached(
  element: RefObject<HTMLElement | null>,
  isWanted: boolean,
  onReach: () => void,
): void {
  useEffect(() => {
    const target = element.current;
    if (!isWanted || !target) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) onReach();
      },
      { rootMargin: MARGIN },
    );
    observer.observe(target);
    return () => observer.disconnect();
  }, [element, isWanted, onReach]);
}
