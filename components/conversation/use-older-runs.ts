'use client';

import { useState } from 'react';
import type { RunSummary } from '#lib/protocol/run';
import { useApi } from '../providers/workbench-context.tsx';
import { showErrorToast } from '../ui/toast.tsx';

/** Runs beyond the recent ones of the feed, page by page; `more` is absent after the last page. */
export function useOlderRuns(): { older: readonly RunSummary[]; more?: () => void } {
  const api = useApi();
  const [older, setOlder] = useState<readonly RunSummary[]>([]);
  const [cursor, setCursor] = useState<string | null | undefined>(undefined);
  const load = async () => {
    const answer = await api.listRuns(cursor ?? undefined);
    if (!answer.ok) return showErrorToast(answer.message);
    setOlder((before) => [...before, ...answer.value.runs]);
    setCursor(answer.value.next_cursor);
  };
  return cursor === null ? { older } : { older, more: () => void load() };
}
