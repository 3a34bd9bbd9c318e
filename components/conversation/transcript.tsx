'use client';

import { ArrowDown } from 'lucide-react';
import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import { useStickToBottom } from 'use-stick-to-bottom';
import { IconButton } from '../ui/icon-button.tsx';

/** What scrolls must take the focus, so that arrow keys reach it (WCAG 2.1.1). */
const FOCUSABLE = { tabIndex: 0 };

/**
 * The scrolling part. It keeps to the newest line until one scrolls up. It is a
 * log that does not speak: ends of answers are said by the page's one voice,
 * not every token.
 */
export function Transcript({ children }: { children: ReactNode }) {
  const t = useTranslations('conversation');
  const { scrollRef, contentRef, isAtBottom, scrollToBottom } = useStickToBottom({
    initial: 'instant',
    resize: 'instant',
  });
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scrollRef}
        role="log"
        aria-live="off"
        aria-label={t('log')}
        {...FOCUSABLE}
        className="h-full overflow-y-auto px-4 py-3 -outline-offset-2"
      >
        <div ref={contentRef} className="space-y-3">
          {children}
        </div>
      </div>
      {!isAtBottom && (
        <div className="absolute bottom-2 left-1/2 -translate-x-1/2">
          <IconButton variant="plain" label={t('scrollDown')} onClick={() => void scrollToBottom()}>
            <ArrowDown aria-hidden className="size-4" />
          </IconButton>
        </div>
      )}
    </div>
  );
}
