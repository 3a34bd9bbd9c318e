'use client';

import { useTranslations } from 'next-intl';
import { useCallback, useRef } from 'react';
import { useFormatFailure } from '../failure/format-failure.ts';
import { useListingsKnown, useSingleCall, useWorkbench } from '../providers/workbench-context.tsx';
import { Button } from '../ui/button.tsx';
import { useReached } from './use-reached.ts';

export interface MissingCallProps {
  runId: string;
  callId: string;
}

/** In place of a call that the feed does not name: it is fetched when a person comes near it. */
export function MissingCall({ runId, callId }: MissingCallProps) {
  const t = useTranslations('conversation');
  const formatFailure = useFormatFailure();
  const { older } = useWorkbench();
  // Before the first snapshot each call is missing.
  const isFed = useListingsKnown();
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
        <p>{t('callDeleted')}</p>
      ) : single?.state === 'failed' ? (
        <>
          <p>{t('callFailed', { reason: formatFailure(single.failure) })}</p>
          {single.failure.code !== 'call_not_found' && (
            <Button size="sm" onClick={reach}>
              {t('callAgain')}
            </Button>
          )}
        </>
      ) : (
        <p>{t('callLoading')}</p>
      )}
    </div>
  );
}
