'use client';

import { useTranslations } from 'next-intl';
import { useEffect, useRef } from 'react';
import { showControlCharacters } from '#lib/format/show-control-characters';
import { useFormatFailure } from '../failure/format-failure.ts';
import { Button } from '../ui/button.tsx';
import type { Pages } from './use-pages.ts';

/** Below a list that comes by pages: the next one, why it did not come, or that this was the last. */
export function MoreButton({ pages }: { pages: Pages<unknown> }) {
  const t = useTranslations('settings');
  const common = useTranslations('common');
  const formatFailure = useFormatFailure();
  const { items, failure, isLoading, hasMore, more } = pages;
  const end = useRef<HTMLParagraphElement>(null);
  const wasPressed = useRef(false);
  const isEnd = items !== null && !hasMore && !failure;
  useEffect(() => {
    // The button that had the focus is not there any more.
    if (isEnd && wasPressed.current) end.current?.focus();
  }, [isEnd]);
  if (isEnd) {
    return (
      <p ref={end} tabIndex={-1} className="mt-3 text-muted">
        {t(items.length === 0 ? 'none' : 'all')}
      </p>
    );
  }
  return (
    <div className="mt-3 flex flex-wrap items-center gap-3">
      {failure && (
        <p role="alert" className="text-error wrap-anywhere">
          {showControlCharacters(formatFailure(failure))}
        </p>
      )}
      {items === null && isLoading ? (
        <p role="status" className="text-muted">
          {common('loading')}
        </p>
      ) : (
        // Not disabled while it loads: that would take the focus away from it.
        <Button
          size="sm"
          aria-disabled={isLoading}
          onClick={() => {
            wasPressed.current = true;
            more();
          }}
        >
          {common(isLoading ? 'loading' : failure ? 'again' : 'showMore')}
        </Button>
      )}
    </div>
  );
}
