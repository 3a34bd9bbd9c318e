'use client';

import { useTranslations } from 'next-intl';
import { useState } from 'react';
import type { RunSummary } from '#lib/protocol/run';
import { useFailureToast } from '../failure/format-failure.ts';
import { useApi } from '../providers/workbench-context.tsx';

/** Stops a run. The screen says so at once, before the server has answered. */
export function useStop(run: RunSummary | undefined): { stop: () => void; stopping: boolean } {
  const api = useApi();
  const t = useTranslations('conversation');
  const showFailure = useFailureToast();
  const [askedFor, setAskedFor] = useState<string | null>(null);
  const running = run?.status === 'running';
  const stop = async () => {
    if (!run || !running) return;
    setAskedFor(run.run_id);
    const answer = await api.cancelRun(run.run_id);
    setAskedFor(null);
    if (!answer.ok) showFailure(t('stopFailed'), answer);
  };
  return { stop: () => void stop(), stopping: running && askedFor === run.run_id };
}
