'use client';

import { useLocale, useTranslations } from 'next-intl';
import { useEffect } from 'react';
import { joinSentences } from '#lib/i18n/join-sentences';
import { createCallSummary } from '#lib/stores/call-summary';
import { useAnnounce, useWorkbench } from '../providers/workbench-context.tsx';

/** Apart enough for a sentence to be read out to its end. */
const EVERY_MS = 1_500;

/** Sums up what finished since the last time, for those who listen. */
export function useCallAnnouncements(): void {
  const { calls } = useWorkbench();
  const t = useTranslations('shell.calls');
  const locale = useLocale();
  const announce = useAnnounce();
  useEffect(() => {
    const summary = createCallSummary(calls.getState());
    const timer = setInterval(() => {
      const { done, failed } = summary.since(calls.getState());
      const finished = [
        ...(done.length > 0 ? [t('done', { count: done.length, tools: names(done) })] : []),
        ...(failed.length > 0 ? [t('failed', { count: failed.length, tools: names(failed) })] : []),
      ];
      if (finished.length > 0) announce(joinSentences(finished, locale));
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [calls, t, locale, announce]);
}

/** Each name once, and not so many that it becomes a speech. */
const names = (tools: readonly string[]): string => [...new Set(tools)].slice(0, 3).join(', ');
