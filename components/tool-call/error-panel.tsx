'use client';

import { useLocale, useTranslations } from 'next-intl';
import { MarkedText } from '#components/ui/marked-text';
import { joinSentences } from '#lib/i18n/locales';
import type { Card } from '#lib/protocol/card';
import { LongText } from '../result/long-text.tsx';
import { formatCause, formatNextStep, ownMessage } from './card-sentence.ts';
import { cardView } from './card-view.ts';

/** Why a call failed, whether it ran, and what can be done. */
export function ErrorPanel({ card }: { card: Card }) {
  const t = useTranslations('card');
  const locale = useLocale();
  const { error } = card;
  // A tool that failed has run: that is not shown. The cause of a repeated call has it already.
  const showsWhetherItRan =
    error &&
    error.reason !== 'repeated_call' &&
    (error.code !== 'tool_error' || error.executed === 'unknown');
  const sentences = [
    formatCause(card, t, locale),
    showsWhetherItRan ? t(`executed.${error.executed}`) : null,
    formatNextStep(card, t),
  ];
  const message = ownMessage(card);
  const tone = cardView(card).tone === 'cancel' ? 'text-cancel' : 'text-error';
  return (
    <div className="mt-0.5">
      <p data-testid="card-cause">
        <MarkedText text={joinSentences(sentences, locale)} />
      </p>
      {error && (
        <div className="mono mt-1 flex min-w-0 flex-wrap gap-x-2 text-muted">
          <code className={tone}>
            {error.reason === 'repeated_call' ? error.reason : error.code}
            {error.clock ? ` (${error.clock})` : ''}
            {error.client_code && error.client_code !== error.code && (
              <>
                {' ('}
                <MarkedText text={error.client_code} />)
              </>
            )}
          </code>
          {message !== null && (
            <span className="min-w-40 flex-1 wrap-anywhere">
              <LongText text={message} maxChars={600} />
            </span>
          )}
        </div>
      )}
    </div>
  );
}
