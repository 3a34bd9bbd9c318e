'use client';

import { useLocale } from 'next-intl';
import { formatDuration } from '#lib/format/format-duration';
import type { Column, Figures } from './sort-statistics.ts';

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
  return ({ count, succeeded, p50_ms, p95_ms, p99_ms }) => [
    { column: 'count', text: number.format(count) },
    { column: 'success', text: percent.format(succeeded / count) },
    { column: 'failed', text: number.format(count - succeeded) },
    { column: 'p50', text: time(p50_ms) },
    { column: 'p95', text: time(p95_ms) },
    { column: 'p99', text: time(p99_ms) },
  ];
}
