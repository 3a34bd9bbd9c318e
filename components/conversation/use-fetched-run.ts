'use client';

import { useEffect, useState } from 'react';
import { useHasMessages, useListingsKnown, useWorkbench } from '../providers/workbench-context.tsx';

/** Fetches a run that the feed does not have, or has without its messages. True when there is no such run. */
export function useFetchedRun(runId: string | null): boolean {
  const { api, runs } = useWorkbench();
  const known = useHasMessages(runId);
  const fed = useListingsKnown();
  const [missing, setMissing] = useState<string | null>(null);
  useEffect(() => {
    if (runId === null || known || !fed) return;
    let current = true;
    void api.getRun(runId).then((answer) => {
      if (answer.ok) runs.getState().load(answer.value);
      else if (current && answer.code === 'run_not_found') setMissing(runId);
    });
    return () => {
      current = false;
    };
  }, [api, runs, runId, known, fed]);
  return runId !== null && missing === runId && !known;
}
