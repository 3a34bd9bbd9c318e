'use client';

import { useTranslations } from 'next-intl';
import { countHidden } from '#lib/format/show-control-characters';
import { MarkedText } from './marked-text.tsx';

export interface HiddenNoteProps {
  id?: string;
  /** The text of a field beside, which can draw no marks. */
  text: string;
}

/** Under a field: how many hidden characters its text has, and where. Nothing when it has none. */
export function HiddenNote({ id, text }: HiddenNoteProps) {
  const t = useTranslations('shell');
  const count = countHidden(text);
  if (count === 0) return null;
  return (
    <div id={id} data-testid="hidden-note" className="mt-1 rounded-md bg-waitbg px-2 py-1.5">
      <p role="status" className="text-xs font-semibold text-wait">
        {t('hiddenNote', { count })}
      </p>
      {/* What scrolls must take the focus, so that arrow keys reach it (WCAG 2.1.1). */}
      <pre {...SCROLLS} className="mono max-h-40 overflow-auto whitespace-pre-wrap wrap-anywhere">
        <MarkedText text={text} keepLayout />
      </pre>
    </div>
  );
}

const SCROLLS = { tabIndex: 0 };
