'use client';

import { parseAsString, useQueryState } from 'nuqs';

/** The conversation that is shown, kept in the address; null for a new one. */
export function useSelectedRun(): [string | null, (runId: string | null) => void] {
  const [runId, setRunId] = useQueryState('run', parseAsString.withOptions({ history: 'push' }));
  return [runId, (next) => void setRunId(next)];
}
