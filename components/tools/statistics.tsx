'use client';

import Link from 'next/link';
import { useLocale, useTranslations } from 'next-intl';
import { useCallback, useId, useState } from 'react';
import type { Api } from '#lib/api/http-client';
import { pathOfCall } from '#lib/call/call-address';
import { formatDuration, formatRelativeTime } from '#lib/format/amounts';
import { isDecided } from '#lib/protocol/is-decided';
import type { ToolStats } from '#lib/protocol/tool-stats';
import { Fetched } from '../failure/fetched.tsx';
import { useAnswer } from '../failure/use-answer.ts';
import { useApi, useClients } from '../providers/workbench-context.tsx';
import { ScrollRegion } from '../result/scroll-region.tsx';
import { Button } from '../ui/button.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { serverNow } from '../ui/server-clock.ts';
import {
  COLUMNS,
  type Column,
  type Figures,
  failedOf,
  nextSorting,
  type Sorting,
  sortUses,
  successOf,
  type ToolUse,
} from './sort-statistics.ts';

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

interface StatisticsTableProps {
  /** As many as the server gives: the 200 with the most calls. */
  uses: readonly ToolUse[];
  onSelect: (tool: string) => void;
}

/** A row for each tool; the head of a column sorts by it. */
function StatisticsTable({ uses, onSelect }: StatisticsTableProps) {
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

const LIST = { role: 'list' };

/** How one tool did: its figures, why it failed, its last errors, and each client that ran it. */
function StatisticsOfTool({ use }: { use: ToolUse }) {
  const t = useTranslations('tools.statistics');
  const failures = Object.entries(use.failures)
    .filter(([code]) => !isDecided(code))
    .toSorted(([, a], [, b]) => b - a);
  return (
    <>
      <FigureList figures={use} />
      {failures.length > 0 && (
        <>
          <h3 className="mt-3 font-semibold">{t('byCode')}</h3>
          <ul className="mt-1 flex flex-wrap gap-x-4 gap-y-1" {...LIST}>
            {failures.map(([code, count]) => (
              <li key={code}>
                <code className="text-error wrap-anywhere">{code}</code>{' '}
                <span className="tabular-nums">{count}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      {use.last_errors.length > 0 && <LastErrors errors={use.last_errors} />}
      {use.clients.length > 0 && <OfClients clients={use.clients} />}
    </>
  );
}

function FigureList({ figures }: { figures: Figures }) {
  const t = useTranslations('tools.statistics.column');
  const format = useFormatFigures();
  return (
    <dl className="flex flex-wrap gap-x-5 gap-y-1">
      {format(figures).map(({ column, text }) => (
        <div key={column}>
          <dt className="text-xs text-muted">{t(column)}</dt>
          <dd className="tabular-nums">{text}</dd>
        </div>
      ))}
    </dl>
  );
}

function LastErrors({ errors }: { errors: ToolUse['last_errors'] }) {
  const t = useTranslations('tools.statistics');
  const locale = useLocale();
  return (
    <>
      <h3 className="mt-3 font-semibold">{t('lastErrors')}</h3>
      <ol className="mt-1 grid gap-2" {...LIST}>
        {errors.map(({ tool_call_id: id, at, code, message }) => (
          <li key={id}>
            <code className="text-error">{code}</code>{' '}
            <span className="text-xs text-muted">
              {formatRelativeTime(at * 1_000, serverNow(), locale)}
            </span>{' '}
            <Link href={pathOfCall(id)} className="text-xs underline underline-offset-2">
              {t('call', { id })}
            </Link>
            <p lang="" className="line-clamp-3 text-[13px] wrap-anywhere">
              <MarkedText text={message} />
            </p>
          </li>
        ))}
      </ol>
    </>
  );
}

function OfClients({ clients }: { clients: ToolUse['clients'] }) {
  const t = useTranslations('tools.statistics');
  const connected = useClients();
  return (
    <>
      <h3 className="mt-3 font-semibold">{t('byClient')}</h3>
      <ul className="mt-1 grid gap-2" {...LIST}>
        {clients.map(({ client_id: id, ...figures }) => (
          <li key={id}>
            <p className="wrap-anywhere">
              <MarkedText text={connected.find((one) => one.client_id === id)?.name || id} />
            </p>
            <FigureList figures={figures} />
          </li>
        ))}
      </ul>
    </>
  );
}

interface Figure {
  readonly column: Exclude<Column, 'tool'>;
  readonly text: string;
}

/** The figures of a tool or client as people read them, in the order of the columns. */
function useFormatFigures(): (figures: Figures) => Figure[] {
  const locale = useLocale();
  const number = new Intl.NumberFormat(locale);
  const percent = new Intl.NumberFormat(locale, {
    style: 'percent',
    maximumFractionDigits: 1,
    // 100 % is shown where nothing failed, and not where little did.
    roundingMode: 'floor',
  });
  const time = (ms: number | null) => (ms === null ? '–' : formatDuration(ms, locale));
  const share = (part: number | null) => (part === null ? '–' : percent.format(part));
  return (figures) => [
    { column: 'count', text: number.format(figures.count) },
    { column: 'success', text: share(successOf(figures)) },
    { column: 'failed', text: number.format(failedOf(figures)) },
    { column: 'decided', text: number.format(figures.decided - figures.expired) },
    { column: 'expired', text: number.format(figures.expired) },
    { column: 'p50', text: time(figures.p50_ms) },
    { column: 'p95', text: time(figures.p95_ms) },
    { column: 'p99', text: time(figures.p99_ms) },
  ];
}
