'use client';

import { useTranslations } from 'next-intl';
import { useState } from 'react';
import type { RunSummary } from '#lib/protocol/run';
import { useFailureToast } from '../failure/format-failure.ts';
import { useApi } from '../providers/workbench-context.tsx';

/** Runs beyond the recent ones of the feed, page by page; `more` is absent after the last page. */
export function useOlderRuns(): { older: readonly RunSummary[]; more?: () => void } {
  const api = useApi();
  const t = useTranslations('conversation');
  const showFailure = useFailureToast();
  const [older, setOlder] = useState<readonly RunSummary[]>([]);
  const [cursor, setCursor] = useState<string | null | undefined>(undefined);
  const load = async () => {
    const answer = await api.listRuns(cursor ?? undefined);
    if (!answer.ok) return showFailure(t('olderFailed'), answer);
    setOlder((before) => [...before, ...answer.value.runs]);
    setCursor(answer.value.next_cursor);
  };
  return cursor === null ? { older } : { older, more: () => void load() };
}
