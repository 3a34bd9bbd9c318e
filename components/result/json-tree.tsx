'use client';

import { useLocale, useTranslations } from 'next-intl';
import { formatBytes } from '#lib/format/format-bytes';
import { jsonLine } from '#lib/format/json-preview';
import { measureJson } from '#lib/format/json-size';
import { MarkedText } from '../ui/marked-text.tsx';
import { JsonNodes } from './json-nodes.tsx';
import { ScrollRegion } from './scroll-region.tsx';

/** Measured limits of a tree drawn at once: far beyond them a tab freezes for minutes. */
const MAX_ROWS = 3_333;
const MAX_CHARS = 2_000_000;
const HEAD_CHARS = 4_000;
/** Values with up to so many rows are open from the start. */
const OPEN_ROWS = 60;

/** Any JSON as a tree, or its beginning where a tree would be too large. */
export function JsonTree({ value, label }: { value: unknown; label: string }) {
  const t = useTranslations('card.result');
  const locale = useLocale();
  const size = measureJson(value, MAX_ROWS, MAX_CHARS);
  if (!size.isWithin) {
    return (
      <>
        <p className="text-xs text-muted">
          {t('tooLarge', { size: `> ${formatBytes(size.chars, locale)}` })}
        </p>
        <ScrollRegion label={label} className="mt-1 max-h-80 rounded-md bg-surface2">
          <pre className="mono whitespace-pre-wrap p-2 wrap-anywhere">
            <MarkedText text={jsonLine(value, HEAD_CHARS)} />
          </pre>
        </ScrollRegion>
      </>
    );
  }
  if (typeof value !== 'object' || value === null) {
    return (
      <code className="mono wrap-anywhere">
        <MarkedText text={jsonLine(value, HEAD_CHARS)} />
      </code>
    );
  }
  return (
    <ScrollRegion label={label} className="max-h-96 rounded-md bg-surface2 p-2">
      <JsonNodes value={value} isOpen={size.rows <= OPEN_ROWS} label={label} />
    </ScrollRegion>
  );
}
