'use client';

import { ArrowLeft } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { parseAsString, parseAsStringLiteral, useQueryStates } from 'nuqs';
import { useState } from 'react';
import { Boundary } from '#components/ui/boundary';
import { Button } from '#components/ui/button';
import { late } from '#components/ui/late';
import { MarkedText } from '#components/ui/marked-text';
import { Select } from '#components/ui/select';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { useListingsKnown, useTools } from '../providers/workbench-context.tsx';
import { CannotShow } from '../result/cannot-show.tsx';
import { filterTools, TOOL_FILTERS, type ToolFilter } from './filter-tools.ts';
import { sourceLabel } from './source-label.ts';
import type { StatisticsProps } from './statistics.tsx';
import { ToolDetail } from './tool-detail.tsx';

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

interface ToolListProps {
  tools: readonly ToolListing[];
  selected: string | null;
  onSelect: (name: string) => void;
  search: string;
  onSearch: (search: string) => void;
  filter: ToolFilter;
  onFilter: (filter: ToolFilter) => void;
}

const LIST = { role: 'list' };

/** Every tool by name, with a search and a filter. */
function ToolList(props: ToolListProps) {
  const t = useTranslations('tools');
  const common = useTranslations('common');
  const clear = () => {
    props.onSearch('');
    props.onFilter('all');
  };
  return (
    <>
      <div className="flex flex-wrap gap-2">
        <input
          type="search"
          aria-label={t('search')}
          placeholder={t('searchHint')}
          value={props.search}
          onChange={(event) => props.onSearch(event.target.value)}
          className="field min-w-0 flex-1 basis-40"
        />
        <Select
          label={t('filter')}
          value={props.filter}
          options={TOOL_FILTERS.map((value) => ({ value, label: t(value) }))}
          onValueChange={(value) =>
            props.onFilter(TOOL_FILTERS.find((one) => one === value) ?? 'all')
          }
        />
      </div>
      <p className="mt-2 text-xs text-muted" role="status">
        {t('count', { shown: props.tools.length })}
      </p>
      {props.tools.length === 0 && (
        <p className="mt-2 flex flex-wrap items-center gap-2 text-muted">
          {t('noMatch')}
          <Button size="sm" onClick={clear}>
            {common('showAll')}
          </Button>
        </p>
      )}
      <ol className="mt-1 flex flex-col gap-1" aria-label={t('list')} {...LIST}>
        {props.tools.map((tool) => (
          <li key={toolKey(tool)}>
            <Boundary of={tool} fallback={<CannotShow value={tool} name={tool.name} />}>
              <ToolRow
                tool={tool}
                isSelected={tool.name === props.selected}
                onSelect={props.onSelect}
              />
            </Boundary>
          </li>
        ))}
      </ol>
    </>
  );
}

const toolKey = (tool: ToolListing): string => `${tool.source} ${tool.name}`;

interface ToolRowProps {
  tool: ToolListing;
  isSelected: boolean;
  onSelect: (name: string) => void;
}

function ToolRow({ tool, isSelected, onSelect }: ToolRowProps) {
  const t = useTranslations('tools');
  const colors = isSelected ? 'border-accent bg-surface2' : 'border-line bg-surface';
  return (
    <div className={`relative rounded-lg border px-3 py-2 hover:bg-surface2 ${colors}`}>
      <div className="flex flex-wrap items-center gap-x-2">
        {/* Named by the tool alone; it covers the whole row for mouse and finger. */}
        <button
          type="button"
          aria-current={isSelected}
          onClick={() => onSelect(tool.name)}
          className="mono min-h-6 text-left font-bold wrap-anywhere after:absolute after:inset-0 after:rounded-lg"
        >
          <MarkedText text={tool.name} />
        </button>
        <span className="text-xs text-muted">{sourceLabel(tool.source, t)}</span>
        {!tool.callable && <span className="chip bg-cancelbg text-cancel">{t('notCallable')}</span>}
      </div>
      <p className="line-clamp-2 text-[13px] text-muted wrap-anywhere">
        <MarkedText text={tool.description} keepLayout />
      </p>
    </div>
  );
}
