'use client';

import { useTranslations } from 'next-intl';
import { useEffect } from 'react';
import { Button } from '#components/ui/button';
import { useFormatFailure } from '../failure/format-failure.ts';
import {
  useCallsKnown,
  useRunPages,
  useWorkbench,
  type Workbench,
} from '../providers/workbench-context.tsx';

/** Below the calls of a conversation: whether there are older ones, fetched page by page. */
export function OlderCalls({ runId }: { runId: string }) {
  const t = useTranslations('card.list');
  const formatFailure = useFormatFailure();
  const { older, calls } = useWorkbench();
  const isFed = useCallsKnown();
  const pages = useRunPages(runId);
  const isUnasked = isFed && pages === undefined;
  const load = () => void loadUnseen({ older, calls }, runId);
  useEffect(() => {
    if (isUnasked) void older.getState().loadPage(runId);
  }, [older, runId, isUnasked]);
  if (!pages || pages.cursor === null) return null;
  return (
    <div className="flex flex-wrap items-center gap-3 px-4 pb-3">
      {pages.state === 'failed' && (
        <p role="alert" className="text-error">
          {t('olderFailed', { reason: formatFailure(pages.failure) })}
        </p>
      )}
      {/* Not disabled while it loads: that would take the focus away from it. */}
      <Button size="sm" aria-disabled={pages.state === 'loading'} onClick={load}>
        {t(
          pages.state === 'loading'
            ? 'olderLoading'
            : pages.state === 'failed'
              ? 'olderAgain'
              : 'older',
        )}
      </Button>
    </div>
  );
}

/** The newest pages may hold calls of the feed alone: goes on to one that brings another call. */
async function loadUnseen({ older, calls }: Pick<Workbench, 'older' | 'calls'>, runId: string) {
  const unseen = () =>
    older.getState().order.filter((id) => !Object.hasOwn(calls.getState().byId, id)).length;
  const before = unseen();
  do {
    await older.getState().loadPage(runId);
    const page = older.getState().pages[runId];
    if (page?.state !== 'ready' || page.cursor === null) return;
  } while (unseen() === before);
}
