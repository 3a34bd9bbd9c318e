'use client';

import { useTranslations } from 'next-intl';
import { useLayoutEffect, useRef, useState } from 'react';
import type { ApiFailure, ApiResult } from '#lib/api/api-result';
import type { MessagesPage } from '#lib/protocol/rest';
import { withOlderMessages } from '#lib/stores/runs-store';
import { useFormatFailure } from '../failure/format-failure.ts';
import { useWorkbench } from '../providers/workbench-context.tsx';
import { Button } from '../ui/button.tsx';
import { Notice } from './notice.tsx';

/** Stands before the oldest message that is here, and fetches the page before it. */
export function OlderMessages({ runId, before }: { runId: string; before: number }) {
  const { api, runs } = useWorkbench();
  const common = useTranslations('common');
  const formatFailure = useFormatFailure();
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const [isLoading, setIsLoading] = useState(false);
  const top = useRef<HTMLDivElement>(null);
  const keepPlace = useKeptPlace(top, before);

  const load = async () => {
    setIsLoading(true);
    setFailure(null);
    const path = `/v1/runs/${encodeURIComponent(runId)}/messages?before=${before}`;
    const answer: ApiResult<MessagesPage> = await api.request({ method: 'GET', path });
    setIsLoading(false);
    if (!answer.ok) return setFailure(answer);
    keepPlace();
    runs.setState((state) => withOlderMessages(state, answer.value));
  };
  return (
    <div ref={top} className="space-y-2 text-center">
      {failure && <Notice code={failure.code} words={formatFailure(failure)} />}
      <Button size="sm" disabled={isLoading} onClick={() => void load()}>
        {common('showMore')}
      </Button>
    </div>
  );
}

/** What a person reads stays where it is when something comes before it. */
function useKeptPlace(top: React.RefObject<HTMLElement | null>, before: number): () => void {
  const height = useRef<number | null>(null);
  const scroller = () => top.current?.closest('[role=log]');
  // biome-ignore lint/correctness/useExhaustiveDependencies: another number is a page that came.
  useLayoutEffect(() => {
    const log = scroller();
    if (log && height.current !== null) log.scrollTop += log.scrollHeight - height.current;
    height.current = null;
  }, [before]);
  return () => {
    height.current = scroller()?.scrollHeight ?? null;
  };
}
