'use client';

import { useLocale } from 'next-intl';
import { formatDuration } from '#lib/format/format-duration';
import { type Column, type Figures, failedOf, successOf } from './sort-statistics.ts';

interface Figure {
  readonly column: Exclude<Column, 'tool'>;
  readonly text: string;
}

/** The figures of a tool or client as people read them, in the order of the columns. */
export function useFormatFigures(): (figures: Figures) => Figure[] {
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
