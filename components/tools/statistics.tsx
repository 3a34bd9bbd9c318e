'use client';

import { useLocale, useTranslations } from 'next-intl';
import { useCallback, useId, useState } from 'react';
import { Button } from '#components/ui/button';
import type { Api } from '#lib/api/http-client';
import type { ToolStats } from '#lib/protocol/tool-stats';
import { Fetched } from '../failure/fetched.tsx';
import { useAnswer } from '../failure/use-answer.ts';
import { useApi } from '../providers/workbench-context.tsx';
import { StatisticsOfTool } from './statistics-of-tool.tsx';
import { StatisticsTable } from './statistics-table.tsx';

export interface StatisticsProps {
  /** Null: of all tools. */
  tool: string | null;
  onSelect: (tool: string) => void;
}

const read = (api: Api) => () => api.request<ToolStats>({ method: 'GET', path: '/v1/tools/stats' });

/** How tools did of late. Read once for all tools, and again on demand. */
export function Statistics({ tool, onSelect }: StatisticsProps) {
  const t = useTranslations('tools.statistics');
  const api = useApi();
  const locale = useLocale();
  const titleId = useId();
  const [ask, setAsk] = useState(() => read(api));
  const answer = useAnswer(ask);
  const again = useCallback(() => setAsk(() => read(api)), [api]);
  return (
    <section aria-labelledby={titleId} className="mt-4">
      <div className="mb-1 flex flex-wrap items-center gap-3">
        <h2 id={titleId} className="text-base font-bold">
          {t('title')}
        </h2>
        <Button size="sm" onClick={again}>
          {t('again')}
        </Button>
      </div>
      <Fetched answer={answer} loading={<p role="status">{t('loading')}</p>}>
        {({ calls, from, to, tools }) => {
          const one = tools.find(({ tool_name: name }) => name === tool);
          if (calls === 0 || (tool !== null && !one)) {
            return <p className="text-muted">{t(tool === null ? 'none' : 'noneOfTool')}</p>;
          }
          return (
            <>
              <p className="mb-2 text-xs text-muted">
                {t('of', { count: calls })}
                {from !== null &&
                  to !== null &&
                  ` ${t('ended', { span: formatSpan(from, to, locale) })}`}
              </p>
              {one ? (
                <StatisticsOfTool use={one} />
              ) : (
                <StatisticsTable uses={tools} onSelect={onSelect} />
              )}
            </>
          );
        }}
      </Fetched>
    </section>
  );
}

const formatSpan = (from: number, to: number, locale: string): string =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }).formatRange(
    from * 1_000,
    to * 1_000,
  );
