'use client';

import { useEffect, useState } from 'react';
import type { ApiFailure } from '#lib/api/api-result';
import {
  useConnection,
  useHasMessages,
  useListingsKnown,
  useWorkbench,
} from '../providers/workbench-context.tsx';

export interface FetchedRun {
  /** Why the run could not be had; null while it is fetched, and once it is here. */
  readonly failure: ApiFailure | null;
  again(): void;
}

/**
 * Fetches a run that the feed does not have, or has without its messages: also when the connection
 * is back, since a request may have failed with it.
 */
export function useFetchedRun(runId: string): FetchedRun {
  const { api, runs } = useWorkbench();
  const known = useHasMessages(runId);
  const fed = useListingsKnown();
  const isConnected = useConnection().feed.kind === 'connected';
  const [round, setRound] = useState(0);
  const [failed, setFailed] = useState<{ runId: string; failure: ApiFailure } | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round asks again.
  useEffect(() => {
    if (known || !fed || !isConnected) return;
    let current = true;
    setFailed(null);
    void api.getRun(runId).then((answer) => {
      if (answer.ok) runs.getState().load(answer.value);
      else if (current) setFailed({ runId, failure: answer });
    });
    return () => {
      current = false;
    };
  }, [api, runs, runId, known, fed, isConnected, round]);
  return {
    failure: failed?.runId === runId && !known ? failed.failure : null,
    again: () => setRound(round + 1),
  };
}
