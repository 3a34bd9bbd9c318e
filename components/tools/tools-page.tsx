'use client';

import { ArrowLeft } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { parseAsString, parseAsStringLiteral, useQueryStates } from 'nuqs';
import { useState } from 'react';
import { Boundary } from '#components/ui/boundary';
import { Button } from '#components/ui/button';
import { late } from '#components/ui/late';
import { useListingsKnown, useTools } from '../providers/workbench-context.tsx';
import { CannotShow } from '../result/cannot-show.tsx';
import { filterTools, type ToolFilter } from './filter-tools.ts';
import type { StatisticsProps } from './statistics.tsx';
import { ToolDetail } from './tool-detail.tsx';
import { ToolList } from './tool-list.tsx';

const Statistics = late<StatisticsProps>(() =>
  import('./statistics.tsx').then((module) => module.Statistics),
);

const SHOWN = {
  tool: parseAsString,
  /** Which client is asked first to run it. */
  client: parseAsString,
  view: parseAsStringLiteral(['statistics']),
};

/**
 * Every tool, and one of them in full, or how all did. `?tool=` names it, so that it can be linked;
 * on a narrow screen `?view=statistics` takes the place of the list.
 */
export function ToolsPage() {
  const t = useTranslations('tools');
  const tools = useTools();
  const isKnown = useListingsKnown();
  const [{ tool: name, client, view }, show] = useQueryStates(SHOWN);
  const [search, setSearch] = useState('');
  const [filter, setFilter] = useState<ToolFilter>('all');
  const tool = tools.find((one) => one.name === name);
  const shown = filterTools(tools, filter, search);
  const isList = name === null && view === null;
  const select = (next: string) => void show({ tool: next, client: null });

  return (
    <div className="mx-auto grid h-full max-w-7xl grid-cols-1 md:grid-cols-[minmax(16rem,22rem)_minmax(0,1fr)]">
      <div
        className={`min-h-0 overflow-y-auto p-4 md:border-r md:border-line ${isList ? '' : 'max-md:hidden'}`}
      >
        <PageTitle isMain={name === null || !tool} text={t('title')} />
        <Button
          size="sm"
          className="mb-3"
          onClick={() => void show({ tool: null, view: 'statistics' })}
        >
          {t('statistics.title')}
        </Button>
        {isKnown && tools.length > 0 && (
          <ToolList
            tools={shown}
            selected={name}
            onSelect={select}
            search={search}
            onSearch={setSearch}
            filter={filter}
            onFilter={setFilter}
          />
        )}
        {isKnown && tools.length === 0 && (
          <>
            <p className="font-semibold">{t('none')}</p>
            <p className="text-muted">{t('noneText')}</p>
          </>
        )}
        {!isKnown && <p className="text-muted">{t('loading')}</p>}
      </div>
      <div className={`min-h-0 overflow-y-auto p-4 ${isList ? 'max-md:hidden' : ''}`}>
        {!isList && (
          <Button
            size="sm"
            className="mb-3 md:hidden"
            onClick={() => void show(name === null ? { view: null } : { tool: null })}
          >
            <ArrowLeft aria-hidden className="size-4" />
            {t(name !== null && view ? 'statistics.title' : 'back')}
          </Button>
        )}
        {name === null && <p className="text-muted">{t('pick')}</p>}
        {name !== null && !tool && isKnown && (
          <p className="text-muted">{t('notOffered', { name })}</p>
        )}
        {tool && (
          <Boundary of={tool} fallback={<CannotShow value={tool} name={tool.name} />}>
            <ToolDetail key={tool.name} tool={tool} client={client} />
          </Boundary>
        )}
        {isKnown && <Statistics tool={name} onSelect={select} />}
      </div>
    </div>
  );
}

/** One first-level heading per page: the tool's name takes it over. */
const PageTitle = ({ isMain, text }: { isMain: boolean; text: string }) =>
  isMain ? (
    <h1 className="mb-2 text-base font-bold">{text}</h1>
  ) : (
    <h2 className="mb-2 text-base font-bold">{text}</h2>
  );
