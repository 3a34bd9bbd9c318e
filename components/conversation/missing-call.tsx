'use client';

import { useTranslations } from 'next-intl';
import { type RefObject, useCallback, useEffect, useRef } from 'react';
import { useFormatFailure } from '../failure/format-failure.ts';
import {
  useCallsKnown,
  useListingsKnown,
  useSingleCall,
  useWorkbench,
} from '../providers/workbench-context.tsx';
import { Button } from '../ui/button.tsx';

export interface MissingCallProps {
  runId: string;
  callId: string;
}

type Missing = MissingCallProps & {
  /** It has not ended: the feed sends no more of what is open. */
  isOpen?: boolean;
};

/** In place of a call that the feed does not name: it is fetched when a person comes near it. */
export function MissingCall({ runId, callId, isOpen = false }: Missing) {
  const t = useTranslations('conversation');
  const common = useTranslations('common');
  const formatFailure = useFormatFailure();
  const { older } = useWorkbench();
  // Before the first snapshot each call is missing, and before all parts of it those that have ended.
  const isStarted = useListingsKnown();
  const isWhole = useCallsKnown();
  const isFed = isOpen ? isStarted : isWhole;
  const single = useSingleCall(callId);
  const line = useRef<HTMLDivElement>(null);
  const reach = useCallback(
    () => void older.getState().reach(runId, callId),
    [older, runId, callId],
  );
  useReached(line, isFed && single === undefined, reach);
  return (
    <div
      ref={line}
      data-testid="missing-call"
      data-call-id={callId}
      className="flex min-h-8 flex-wrap items-center gap-2 px-1.5 py-0.5 text-muted"
    >
      {single?.state === 'failed' && single.failure.code === 'call_deleted' ? (
        <p>{common('callDeleted')}</p>
      ) : single?.state === 'failed' ? (
        <>
          <p>{t('callFailed', { reason: formatFailure(single.failure) })}</p>
          {single.failure.code !== 'call_not_found' && (
            <Button size="sm" onClick={reach}>
              {common('again')}
            </Button>
          )}
        </>
      ) : (
        <p>{t('callLoading')}</p>
      )}
    </div>
  );
}

/** So far below and above what is in sight something counts as reached. */
const MARGIN = '400px';

/** Calls back once the element comes near to what is in sight, while `isWanted`. */
function useReached(
  element: RefObject<HTMLElement | null>,
  isWanted: boolean,
  onReach: () => void,
): void {
  useEffect(() => {
    const target = element.current;
    if (!isWanted || !target) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) onReach();
      },
      { rootMargin: MARGIN },
    );
    observer.observe(target);
    return () => observer.disconnect();
  }, [element, isWanted, onReach]);
}
