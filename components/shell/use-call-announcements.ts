'use client';

import { useTranslations } from 'next-intl';
import { useEffect } from 'react';
import { createCallSummary } from '#lib/stores/call-summary';
import { useAnnounce, useWorkbench } from '../providers/workbench-context.tsx';

/** Apart enough for a sentence to be read out to its end. */
const EVERY_MS = 1_500;

/** Sums up what finished since the last time, for those who listen. */
export function useCallAnnouncements(): void {
  const { calls } = useWorkbench();
  const t = useTranslations('shell.calls');
  const announce = useAnnounce();
  useEffect(() => {
    const summary = createCallSummary(calls.getState());
    const timer = setInterval(() => {
      const { done, failed } = summary.since(calls.getState());
      const finished = [
        ...(done.length > 0 ? [t('done', { count: done.length, tools: names(done) })] : []),
        ...(failed.length > 0 ? [t('failed', { count: failed.length, tools: names(failed) })] : []),
      ];
      if (finished.length > 0) announce(finished.join(' '));
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [calls, t, announce]);
}

/** Each name once, and not so many that it becomes a speech. */
const names = (tools: readonly string[]): string => [...new Set(tools)].slice(0, 3).join(', ');
