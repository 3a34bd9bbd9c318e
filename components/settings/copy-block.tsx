'use client';

import { useTranslations } from 'next-intl';
import { useId, useState } from 'react';
import { copyText } from '../tool-call/copy-text.ts';
import { Button } from '../ui/button.tsx';

export interface CopyBlockProps {
  /** Where it goes: a file, a shell. */
  label: string;
  text: string;
}

/** Text of several lines with a button that copies it. */
export function CopyBlock({ label, text }: CopyBlockProps) {
  const t = useTranslations('settings.connect');
  const common = useTranslations('common');
  const labelId = useId();
  const [copied, setCopied] = useState<{ text: string; done: boolean } | null>(null);
  const copy = async () => setCopied({ text, done: await copyText(text) });
  // Of what is shown now.
  const outcome = copied?.text === text ? copied : null;
  return (
    <figure>
      <figcaption className="flex flex-wrap items-center justify-between gap-2">
        <span id={labelId} className="mono text-sm wrap-anywhere">
          {label}
        </span>
        <span className="flex items-center gap-2">
          <span role="status" className={outcome?.done === false ? 'text-error' : 'text-muted'}>
            {outcome && t(outcome.done ? 'copied' : 'notCopied')}
          </span>
          <Button size="sm" aria-label={t('copyNamed', { label })} onClick={() => void copy()}>
            {common('copy')}
          </Button>
        </span>
      </figcaption>
      {/* It scrolls sideways, so that it is reached by keyboard as well. */}
      <section
        aria-labelledby={labelId}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must take the focus (axe: scrollable-region-focusable).
        tabIndex={0}
        className="mt-1 max-h-72 overflow-auto rounded border border-line bg-bg p-2"
      >
        <pre className="mono text-sm whitespace-pre-wrap wrap-anywhere">{text}</pre>
      </section>
    </figure>
  );
}
