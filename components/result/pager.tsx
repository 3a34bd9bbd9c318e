'use client';

import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useLocale, useTranslations } from 'next-intl';
import { useState } from 'react';
import type { Parts } from './use-parts.ts';

export interface PagerProps {
  parts: Parts;
  /** What is counted. */
  of: 'rows' | 'items' | 'chars';
}

/**
 * Which part of a large value is shown, and the way to the others. Nothing when
 * there is one part. At an end its button does nothing, and keeps the focus.
 */
export function Pager({ parts, of }: PagerProps) {
  const t = useTranslations('card.result');
  const { part, parts: last } = parts;
  const words = usePartLabel(parts, of);
  if (last === 1) return null;
  return (
    <div data-testid="pager" className="flex flex-wrap items-center gap-x-1 text-xs text-muted">
      <button
        type="button"
        aria-label={t('previousPart')}
        aria-disabled={part === 0}
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
        aria-disabled={part === last - 1}
        onClick={() => parts.go(part + 1)}
        className="pager-button"
      >
        <ChevronRight aria-hidden className="size-4" />
      </button>
      {last > 3 && <PartField parts={parts} label={t('part')} />}
    </div>
  );
}

/** A part's number. While one writes it may be empty, or not yet what it will be. */
function PartField({ parts: { part, parts, go }, label }: { parts: Parts; label: string }) {
  const [draft, setDraft] = useState<string | null>(null);
  const write = (text: string) => {
    setDraft(text);
    if (Number(text) >= 1) go(Math.trunc(Number(text)) - 1);
  };
  return (
    <label className="flex items-center gap-1">
      {label}
      <input
        type="number"
        min={1}
        max={parts}
        value={draft ?? part + 1}
        onChange={({ target }) => write(target.value)}
        onBlur={() => setDraft(null)}
        className="field w-20! py-0! tabular-nums"
      />
    </label>
  );
}

/** E.g. "Rows 101 to 200 of 5,000". */
export function usePartLabel({ from, to, count }: Parts, of: PagerProps['of']): string {
  const t = useTranslations('card.result');
  const locale = useLocale();
  const number = (value: number) => value.toLocaleString(locale);
  return t(of, { from: number(from + 1), to: number(to), count: number(count) });
}
