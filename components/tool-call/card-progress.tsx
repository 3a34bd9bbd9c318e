'use client';

import { useTranslations } from 'next-intl';
import type { Card } from '#lib/protocol/card';

/** How far a running call is: a share of a known total, else only that it moves. */
export function CardProgress({ card, isStale }: { card: Card; isStale: boolean }) {
  const t = useTranslations('card');
  const { progress } = card;
  const total = progress?.total;
  const label = t('part.progress', { tool: card.tool_name ?? '' });
  if (progress && total !== undefined) {
    const share = Math.min(1, progress.done / total);
    return (
      <div className="mt-2 flex items-center gap-2">
        <div
          role="progressbar"
          aria-label={label}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.floor(share * 100)}
          className="h-1.5 min-w-0 flex-1 overflow-hidden rounded-full bg-surface2"
        >
          <div
            className="h-full w-full origin-left bg-doing transition-transform duration-200 ease-linear"
            style={{ transform: `scaleX(${share})` }}
          />
        </div>
        <span className="text-xs tabular-nums text-muted">
          {t('part.progressOf', { done: progress.done, total })}
        </span>
      </div>
    );
  }
  return (
    <div className="mt-2 flex items-center gap-2">
      <div
        role="progressbar"
        aria-label={label}
        className="h-1.5 min-w-0 flex-1 overflow-hidden rounded-full bg-surface2"
      >
        <div className={`h-full w-full bg-doing ${isStale ? 'opacity-40' : 'indet'}`} />
      </div>
      {progress && (
        <span className="text-xs tabular-nums text-muted">
          {t('part.progressDone', { done: progress.done })}
        </span>
      )}
    </div>
  );
}
