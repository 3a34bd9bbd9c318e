'use client';

import { ArrowLeft } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { parseAsString, useQueryState } from 'nuqs';
import { useState } from 'react';
import { Boundary } from '#components/ui/boundary';
import { Button } from '#components/ui/button';
import { useListingsKnown, useTools } from '../providers/workbench-context.tsx';
import { CannotShow } from '../result/cannot-show.tsx';
import { filterTools, type ToolFilter } from './filter-tools.ts';
import { ToolDetail } from './tool-detail.tsx';
import { ToolList } from './tool-list.tsx';

/** Every tool, and one of them in full. `?tool=` names it, so that it can be linked. */
export function ToolsPage() {
  const t = useTranslations('tools');
  const tools = useTools();
  const isKnown = useListingsKnown();
  const [name, setName] = useQueryState('tool', parseAsString);
  const [search, setSearch] = useState('');
  const [filter, setFilter] = useState<ToolFilter>('all');
  const tool = tools.find((one) => one.name === name);
  const shown = filterTools(tools, filter, search);

  return (
    <div className="mx-auto grid h-full max-w-7xl grid-cols-1 md:grid-cols-[minmax(16rem,22rem)_minmax(0,1fr)]">
      <div
        className={`min-h-0 overflow-y-auto p-4 md:border-r md:border-line ${name === null ? '' : 'max-md:hidden'}`}
      >
        <PageTitle isMain={name === null || !tool} text={t('title')} />
        {isKnown && tools.length > 0 && (
          <ToolList
            tools={shown}
            selected={name}
            onSelect={(next) => void setName(next)}
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
      <div className={`min-h-0 overflow-y-auto p-4 ${name === null ? 'max-md:hidden' : ''}`}>
        {name !== null && (
          <Button size="sm" className="mb-3 md:hidden" onClick={() => void setName(null)}>
            <ArrowLeft aria-hidden className="size-4" />
            {t('back')}
          </Button>
        )}
        {name === null && <p className="text-muted">{t('pick')}</p>}
        {name !== null && !tool && isKnown && (
          <p className="text-muted">{t('notOffered', { name })}</p>
        )}
        {tool && (
          <Boundary of={tool} fallback={<CannotShow value={tool} name={tool.name} />}>
            <ToolDetail key={tool.name} tool={tool} />
          </Boundary>
        )}
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
