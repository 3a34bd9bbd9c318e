'use client';

import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { MarkedText } from '#components/ui/marked-text';
import { ScrollRegion } from '../result/scroll-region.tsx';
import {
  COLUMNS,
  type Column,
  nextSorting,
  type Sorting,
  sortUses,
  type ToolUse,
} from './sort-statistics.ts';
import { useFormatFigures } from './use-format-figures.ts';

export interface StatisticsTableProps {
  /** As many as the server gives: the 200 with the most calls. */
  uses: readonly ToolUse[];
  onSelect: (tool: string) => void;
}

/** A row for each tool; the head of a column sorts by it. */
export function StatisticsTable({ uses, onSelect }: StatisticsTableProps) {
  const t = useTranslations('tools.statistics');
  const format = useFormatFigures();
  const [sorting, setSorting] = useState<Sorting>({ by: 'count', isDescending: true });
  return (
    <ScrollRegion label={t('table')}>
      <table className="w-full text-left text-[13px]">
        <caption className="sr-only">{t('table')}</caption>
        <thead>
          <tr className="border-b border-line">
            {COLUMNS.map((column) => (
              <Head
                key={column}
                column={column}
                sorting={sorting}
                onSort={() => setSorting(nextSorting(sorting, column))}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {sortUses(uses, sorting).map((use) => (
            <tr key={use.tool_name} className="border-b border-line last:border-b-0">
              <th scope="row" className="py-1 pr-3 font-normal">
                <button
                  type="button"
                  onClick={() => onSelect(use.tool_name)}
                  className="mono min-h-6 min-w-32 text-left font-semibold underline underline-offset-2 wrap-anywhere"
                >
                  <MarkedText text={use.tool_name} />
                </button>
              </th>
              {format(use).map(({ column, text }) => (
                <td key={column} className="py-1 pr-3 text-right tabular-nums whitespace-nowrap">
                  {text}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

interface HeadProps {
  column: Column;
  sorting: Sorting;
  onSort: () => void;
}

function Head({ column, sorting, onSort }: HeadProps) {
  const t = useTranslations('tools.statistics.column');
  const isSorted = sorting.by === column;
  const order = sorting.isDescending ? 'descending' : 'ascending';
  // Its place is kept, so that no column moves; at the inner side, so that numbers are below words.
  const arrow = (
    <span aria-hidden className={isSorted ? '' : 'invisible'}>
      {sorting.isDescending ? ' ↓ ' : ' ↑ '}
    </span>
  );
  return (
    <th
      scope="col"
      aria-sort={isSorted ? order : undefined}
      className={`pr-3 font-semibold ${column === 'tool' ? '' : 'text-right'}`}
    >
      <button type="button" onClick={onSort} className="min-h-6 whitespace-nowrap hover:underline">
        {column !== 'tool' && arrow}
        {t(column)}
        {column === 'tool' && arrow}
      </button>
    </th>
  );
}
