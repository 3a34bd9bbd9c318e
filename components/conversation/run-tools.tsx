'use client';

import { useTranslations } from 'next-intl';
import { useCallback, useState } from 'react';
import type { ApiFailure, ApiResult } from '#lib/api/api-result';
import type { Api } from '#lib/api/http-client';
import type { RunToolsPage } from '#lib/protocol/rest';
import type { Offer, RunTool } from '#lib/protocol/run-tools';
import { Fetched } from '../failure/fetched.tsx';
import { useFormatFailure } from '../failure/format-failure.ts';
import { useAnswer } from '../failure/use-answer.ts';
import { useApi } from '../providers/workbench-context.tsx';
import { ScrollRegion } from '../result/scroll-region.tsx';
import { Button } from '../ui/button.tsx';
import { MarkedText } from '../ui/marked-text.tsx';

/**
 * Above the messages of a run: which tools its model is offered, and why not the others. Fetched when
 * opened. Its code comes with the run's view, which is late itself: a chunk more would be named in
 * the first load of the workbench.
 */
export function RunTools({ runId }: { runId: string }) {
  const t = useTranslations('conversation.tools');
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      data-testid="run-tools"
      onToggle={(event) => setOpen(event.currentTarget.open)}
      className="px-4 text-xs text-muted"
    >
      <summary className="min-h-6 w-fit cursor-pointer rounded leading-6 hover:text-fg pointer-coarse:leading-11">
        {t('title')}
      </summary>
      {isOpen && <RunToolList runId={runId} />}
    </details>
  );
}

/** In the order in which they are counted. */
const OFFERS: readonly Offer[] = [
  ...(['offered', 'over_limit', 'schema_unfit', 'denied', 'not_in_run'] as const),
  ...(['not_permitted', 'unavailable', 'failing', 'client_away', 'not_needed'] as const),
];

const listRunTools = (
  request: Api['request'],
  runId: string,
  after: string,
): Promise<ApiResult<RunToolsPage>> => {
  const query = new URLSearchParams({ limit: '100', ...(after === '' ? {} : { after }) });
  return request({ method: 'GET', path: `/v1/runs/${encodeURIComponent(runId)}/tools?${query}` });
};

/** Each tool with whether the next step offers it to the model, or why not. */
function RunToolList({ runId }: { runId: string }) {
  const t = useTranslations('conversation.tools');
  const api = useApi();
  const answer = useAnswer(useCallback(() => listRunTools(api.request, runId, ''), [api, runId]));
  return (
    <Fetched answer={answer} loading={<p role="status">{t('loading')}</p>}>
      {(first) => <Listed first={first} />}
    </Fetched>
  );
}

function Listed({ first }: { first: RunToolsPage }) {
  const t = useTranslations('conversation.tools');
  const api = useApi();
  const formatFailure = useFormatFailure();
  const [more, setMore] = useState<readonly RunToolsPage[]>([]);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const [isLoading, setIsLoading] = useState(false);
  const pages = [first, ...more];
  const next = pages.at(-1)?.next_after ?? null;
  const load = async (after: string) => {
    setIsLoading(true);
    setFailure(null);
    const answer = await listRunTools(api.request, first.run_id, after);
    setIsLoading(false);
    if (answer.ok) setMore([...more, answer.value]);
    else setFailure(answer);
  };
  const counts = OFFERS.flatMap((offer) => {
    const count = first.counts[offer];
    return count === undefined ? [] : [t('count', { offer: t(`offer.${offer}`), count })];
  });
  return (
    <div className="space-y-1 pb-2">
      <p data-testid="run-tool-counts">{counts.join(' · ')}</p>
      <ScrollRegion label={t('title')} className="max-h-[40dvh] rounded-md bg-surface2 p-2">
        <ul className="space-y-1">
          {pages
            .flatMap(({ tools }) => tools)
            .map((tool) => (
              <Tool key={tool.name} tool={tool} />
            ))}
        </ul>
        {next !== null && (
          <Button size="sm" disabled={isLoading} onClick={() => void load(next)}>
            {t('more')}
          </Button>
        )}
        {failure && (
          <p role="alert" className="text-error wrap-anywhere">
            {formatFailure(failure)}
          </p>
        )}
      </ScrollRegion>
    </div>
  );
}

function Tool({ tool }: { tool: RunTool }) {
  const t = useTranslations('conversation.tools');
  const { name, offer, pinned, found, rule, reason, schema_warnings: warnings } = tool;
  const words = [
    t(`offer.${offer}`),
    ...(pinned ? [t('pinned')] : []),
    ...(found ? [t('found')] : []),
    ...(rule === undefined ? [] : [t('rule', { rule })]),
  ];
  return (
    <li data-offer={offer} className="flex flex-wrap gap-x-2">
      <span className="mono min-w-0 text-fg wrap-anywhere">
        <MarkedText text={name} />
      </span>
      <span className="min-w-0 wrap-anywhere">
        <MarkedText text={words.join(' · ')} />
        {reason !== undefined && (
          <>
            {' '}
            <MarkedText text={`(${reason})`} />
          </>
        )}
      </span>
      {warnings !== undefined && (
        <span className="basis-full pl-4 wrap-anywhere">
          {t('warnings')} <MarkedText text={warnings.join(' ')} />
        </span>
      )}
    </li>
  );
}
