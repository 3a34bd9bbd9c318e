'use client';

import { useTranslations } from 'next-intl';
import { Boundary } from '#components/ui/boundary';
import { Button } from '#components/ui/button';
import { MarkedText } from '#components/ui/marked-text';
import { Select } from '#components/ui/select';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { CannotShow } from '../result/cannot-show.tsx';
import { TOOL_FILTERS, type ToolFilter } from './filter-tools.ts';
import { sourceLabel } from './source-label.ts';

export interface ToolListProps {
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
export function ToolList(props: ToolListProps) {
  const t = useTranslations('tools');
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
            {t('clear')}
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
