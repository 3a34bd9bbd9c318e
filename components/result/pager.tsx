'use client';

import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useLocale, useTranslations } from 'next-intl';
import type { Parts } from './use-parts.ts';

export interface PagerProps {
  parts: Parts;
  /** What is counted. */
  of: 'rows' | 'items' | 'chars';
}

/** Which part of a large value is shown, and the way to the others. Nothing when there is one part. */
export function Pager({ parts, of }: PagerProps) {
  const t = useTranslations('card.result');
  const { part, parts: last } = parts;
  const words = usePartWords(parts, of);
  if (last === 1) return null;
  return (
    <div data-testid="pager" className="flex flex-wrap items-center gap-x-1 text-xs text-muted">
      <button
        type="button"
        aria-label={t('previousPart')}
        disabled={part === 0}
        onClick={() => parts.go(part - 1)}
        className="pager-button"
      >
        <ChevronLeft aria-hidden className="size-4" />
      </button>
      <span aria-live="polite" className="tabular-nums">
        {words}
      </span>
      <button
        type="button"
        aria-label={t('nextPart')}
        disabled={part === last - 1}
        onClick={() => parts.go(part + 1)}
        className="pager-button"
      >
        <ChevronRight aria-hidden className="size-4" />
      </button>
      {last > 3 && (
        <label className="flex items-center gap-1">
          {t('part')}
          <input
            type="number"
            min={1}
            max={last}
            value={part + 1}
            onChange={({ target }) => parts.go(Math.trunc(Number(target.value) || 1) - 1)}
            className="field w-20! py-0! tabular-nums"
          />
        </label>
      )}
    </div>
  );
}

/** E.g. "Rows 101 to 200 of 5,000". */
export function usePartWords({ from, to, count }: Parts, of: PagerProps['of']): string {
  const t = useTranslations('card.result');
  const locale = useLocale();
  const number = (value: number) => value.toLocaleString(locale);
  return t(of, { from: number(from + 1), to: number(to), count: number(count) });
}
