'use client';

import { type RefCallback, type UIEvent, useCallback, useState } from 'react';

/** Less than half a line, and more than what zooming rounds. */
const SLACK_PX = 4;

export interface SeenToEnd {
  readonly ref: RefCallback<HTMLElement>;
  readonly onScroll: (event: UIEvent<HTMLElement>) => void;
  /** Its end was in view, by scrolling or because all of it fits. */
  readonly isSeen: boolean;
  /** It does not fit and scrolls. */
  readonly isLong: boolean;
}

/**
 * Whether the end of an element that scrolls was in view since it shows `text`
 * (AP1). Another text is not seen yet. An element without a height is not on the
 * screen: what is in a hidden panel was not shown.
 */
export function useSeenToEnd(text: string): SeenToEnd {
  const [seenText, setSeenText] = useState<string | null>(null);
  const [isLong, setLong] = useState(false);
  const check = useCallback(
    ({ clientHeight, scrollHeight, scrollTop }: HTMLElement) => {
      if (clientHeight === 0) return;
      setLong(scrollHeight - clientHeight > SLACK_PX);
      if (scrollHeight - clientHeight - scrollTop <= SLACK_PX) setSeenText(text);
    },
    [text],
  );
  const ref = useCallback(
    (element: HTMLElement | null) => {
      if (!element) return;
      check(element);
      const observer = new ResizeObserver(() => check(element));
      observer.observe(element);
      return () => observer.disconnect();
    },
    [check],
  );
  return {
    ref,
    onScroll: (event) => check(event.currentTarget),
    isSeen: seenText === text,
    isLong,
  };
}
