'use client';

import { useCallback, useEffect, useRef, useState } from 'react';
import type { ApiFailure, ApiResult } from '#lib/api/api-result';

export interface Refreshed<T> {
  /** Of the last request that succeeded; null before. */
  readonly value: T | null;
  /** Why the last request failed. */
  readonly failure: ApiFailure | null;
  again(): void;
  change(change: (value: T) => T): void;
}

/** On a slow line an answer takes longer than the next cause. */
const MOST_UNDER_WAY = 2;

/**
 * Asks at once, and again whenever `cause` is another one; what was known stays until the next
 * answer. No answer takes the place of one that was asked for later.
 */
export function useRefreshed<T>(ask: () => Promise<ApiResult<T>>, cause: unknown): Refreshed<T> {
  const [value, setValue] = useState<T | null>(null);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const requests = useRef({ newest: 0, shown: 0, underWay: 0, isDue: false });
  const again = useCallback(() => {
    const all = requests.current;
    all.newest += 1;
    all.underWay += 1;
    const mine = all.newest;
    void ask().then((answer) => {
      all.underWay -= 1;
      if (mine > all.shown) {
        all.shown = mine;
        if (answer.ok) setValue(answer.value);
        setFailure(answer.ok ? null : answer);
      }
      if (!all.isDue) return;
      all.isDue = false;
      again();
    });
  }, [ask]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: with another `again` what is under way is of another list, as it is of a page that is left.
  useEffect(() => {
    const all = requests.current;
    return () => {
      requests.current = { ...all, shown: all.newest, underWay: 0, isDue: false };
      all.shown = Number.POSITIVE_INFINITY;
      all.isDue = false;
    };
  }, [again]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `cause` is why, and nothing that is read.
  useEffect(() => {
    if (requests.current.underWay < MOST_UNDER_WAY) again();
    else requests.current.isDue = true;
  }, [again, cause]);
  const change = useCallback((by: (value: T) => T) => {
    // What is under way was asked for before the change.
    requests.current.shown = requests.current.newest;
    setValue((before) => (before === null ? before : by(before)));
  }, []);
  return { value, failure, again, change };
}
