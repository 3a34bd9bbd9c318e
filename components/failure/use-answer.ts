'use client';

import { useEffect, useState } from 'react';
import type { ApiResult } from '#lib/api/api-result';

/** What the server answers to `ask`, which is asked again when it is another function, or the round another; null until then. */
export function useAnswer<T>(ask: () => Promise<ApiResult<T>>, round = 0): ApiResult<T> | null {
  const [answer, setAnswer] = useState<ApiResult<T> | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another round asks again.
  useEffect(() => {
    let isWanted = true;
    void ask().then((result) => isWanted && setAnswer(result));
    return () => {
      isWanted = false;
    };
  }, [ask, round]);
  return answer;
}
