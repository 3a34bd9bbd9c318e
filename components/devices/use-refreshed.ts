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

/**
 * Asks at once, and again whenever `cause` is another one; what was known stays until the next
 * answer. Of several requests under way the newest counts.
 */
export function useRefreshed<T>(ask: () => Promise<ApiResult<T>>, cause: unknown): Refreshed<T> {
  const [value, setValue] = useState<T | null>(null);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const newest = useRef(0);
  const again = useCallback(() => {
    newest.current += 1;
    const mine = newest.current;
    void ask().then((answer) => {
      if (mine !== newest.current) return;
      if (answer.ok) setValue(answer.value);
      setFailure(answer.ok ? null : answer);
    });
  }, [ask]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `cause` is why, and nothing that is read.
  useEffect(() => {
    again();
    return () => {
      newest.current += 1;
    };
  }, [again, cause]);
  const change = useCallback(
    (by: (value: T) => T) => setValue((before) => (before === null ? before : by(before))),
    [],
  );
  return { value, failure, again, change };
}
