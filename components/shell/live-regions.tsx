'use client';

import { useLocale, useTranslations } from 'next-intl';
import { useEffect } from 'react';
import { joinSentences } from '#lib/i18n/join-sentences';
import { createCallSummary } from '#lib/stores/call-summary';
import { useAnnounce, useUi, useWorkbench } from '../providers/workbench-context.tsx';
import { showToast } from '../ui/toast.ts';

/**
 * The one polite live region of the page. The list of cards itself is none:
 * at hundreds of updates a second it would never stop talking.
 */
export function LiveRegions() {
  const { text, at } = useUi((state) => state.announcement);
  useCallAnnouncements();
  useConnectionAnnouncements();
  return (
    <p role="status" className="sr-only">
      {/* A new element for each, so that the same words twice are announced twice. */}
      <span key={at}>{text}</span>
    </p>
  );
}

/** Apart enough for a sentence to be read out to its end. */
const EVERY_MS = 1_500;

/** Sums up what finished since the last time, for those who listen. */
function useCallAnnouncements(): void {
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

/** Announces that the connection was lost, that the server's disk is why, after it is back what was caught up, and that a request waits for this tab. */
function useConnectionAnnouncements(): void {
  const { connection, tab } = useWorkbench();
  const t = useTranslations('shell.connection');
  const tabWords = useTranslations('shell.tab');
  const whatToDo = useTranslations('errors.whatToDo');
  const announce = useAnnounce();
  useEffect(
    () =>
      connection.subscribe((now, before) => {
        if (before.feed.kind === 'connected' && now.feed.kind !== 'connected') announce(t('lost'));
        if (now.storeFailed && !before.storeFailed) announce(whatToDo('store_failed'));
        if (before.storeFailed && !now.storeFailed) {
          announce(t(now.feed.kind === 'connected' ? 'connected' : 'lost'));
        }
        if (!now.caughtUp || now.caughtUp === before.caughtUp) return;
        const { events } = now.caughtUp;
        const text = events === null ? t('caughtUpAll') : t('caughtUp', { count: events });
        // The toast speaks for itself: it is a live region of its own.
        showToast(text);
      }),
    [connection, t, whatToDo, announce],
  );
  useEffect(
    () =>
      tab.subscribe((now, before) => {
        if (now.waiting > 0 && before.waiting === 0) announce(tabWords('connecting'));
      }),
    [tab, tabWords, announce],
  );
}
