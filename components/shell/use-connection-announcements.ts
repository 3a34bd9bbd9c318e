'use client';

import { useTranslations } from 'next-intl';
import { useEffect } from 'react';
import { useAnnounce, useWorkbench } from '../providers/workbench-context.tsx';
import { showToast } from '../ui/toast.ts';

/** Announces that the connection was lost, that the server's disk is why, after it is back what was caught up, and that a request waits for this tab. */
export function useConnectionAnnouncements(): void {
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
