'use client';

import { type RefObject, useEffect } from 'react';

/** Gives the focus to what `selector` finds as soon as it is drawn, where a person has just asked for it. */
export function useFirstFocus(
  within: RefObject<HTMLElement | null>,
  selector: string,
  isAsked: boolean,
): void {
  useEffect(() => {
    if (isAsked) within.current?.querySelector<HTMLElement>(selector)?.focus();
  }, [within, selector, isAsked]);
}
