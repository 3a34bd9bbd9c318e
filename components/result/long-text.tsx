'use client';

import { useLocale, useTranslations } from 'next-intl';
import { useState } from 'react';
import { stripAnsi } from '#lib/format/show-control-characters';
import { MarkedText } from '../ui/marked-text.tsx';

/** Beyond this a text is cut until a person asks for all of it. */
const SHOWN_CHARS = 2_000;

/** Plain text of a tool: wrapped, never read as HTML or markdown, hidden characters as symbols. */
export function LongText({ text, maxChars = SHOWN_CHARS }: { text: string; maxChars?: number }) {
  const t = useTranslations('card.result');
  const locale = useLocale();
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > maxChars;
  const shown = isLong && !isWhole ? text.slice(0, maxChars) : text;
  return (
    <>
      <span className="whitespace-pre-wrap wrap-anywhere">
        <MarkedText text={stripAnsi(shown)} keepLayout />
        {isLong && !isWhole && '…'}
      </span>
      {isLong && (
        <button
          type="button"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
          className="ml-1 inline min-h-6 font-semibold text-accent underline underline-offset-2"
        >
          {isWhole ? t('showLess') : t('showAll', { count: text.length.toLocaleString(locale) })}
        </button>
      )}
    </>
  );
}
