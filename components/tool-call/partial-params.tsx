'use client';

import { useTranslations } from 'next-intl';
import { MarkedText } from '#components/ui/marked-text';
import { jsonLine } from '#lib/format/json-preview';

const KEPT_CHARS = 400;

/**
 * Arguments while a model writes them, key by key. Of a long text the end is
 * shown, because that is where the writing goes on.
 */
export function PartialParams({
  params,
  isWriting,
}: {
  params: Record<string, unknown>;
  isWriting: boolean;
}) {
  const t = useTranslations('card');
  const entries = Object.entries(params);
  const lastKey = entries.at(-1)?.[0];
  if (entries.length === 0) {
    return (
      <p className="mono mt-2 rounded-md bg-surface2 px-2 py-1.5 text-muted">
        {t('tip.nothingYet')}
        {isWriting && <Caret />}
      </p>
    );
  }
  return (
    <dl
      aria-label={t('part.arguments')}
      className="mono mt-2 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5 rounded-md bg-surface2 px-2 py-1.5"
    >
      {entries.map(([key, value]) => (
        <div key={key} className="fade-in contents">
          <dt className="text-muted">
            <MarkedText text={key} />
          </dt>
          <dd className="min-w-0 whitespace-pre-wrap wrap-anywhere">
            <MarkedText text={formatValue(value)} keepLayout />
            {isWriting && key === lastKey && <Caret />}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function formatValue(value: unknown): string {
  if (typeof value !== 'string') return jsonLine(value, KEPT_CHARS);
  return value.length > KEPT_CHARS ? `…${value.slice(-KEPT_CHARS)}` : value;
}

const Caret = () => (
  <span aria-hidden className="ml-px inline-block h-[1.1em] w-[0.5ch] bg-wait align-text-bottom" />
);
