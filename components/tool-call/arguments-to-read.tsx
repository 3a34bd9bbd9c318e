'use client';

import { useLocale, useTranslations } from 'next-intl';
import { useId } from 'react';
import { formatBytes } from '#lib/format/amounts';
import { ScrollRegion } from '../result/scroll-region.tsx';
import { Button } from '../ui/button.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { argumentsText } from './arguments-text.ts';
import type { SeenToEnd } from './use-seen-to-end.ts';

/** The arguments of a call to decide on, as far as this page has them. */
export type ArgumentsToDecide =
  | { readonly kind: 'known'; readonly params: Record<string, unknown> }
  | { readonly kind: 'fetching' }
  | { readonly kind: 'failed'; readonly problem: string; readonly onAgain: () => void };

export interface ArgumentsToReadProps {
  args: ArgumentsToDecide;
  /** Of the arguments as JSON. */
  bytes: number;
  seen: SeenToEnd;
  isFolded: boolean;
  onFold: (isFolded: boolean) => void;
}

/** Arguments in the open. Long ones scroll, and a person can fold them by their size. */
export function ArgumentsToRead(props: ArgumentsToReadProps) {
  const { args, seen, isFolded } = props;
  const t = useTranslations('card.approval');
  const id = useId();
  return (
    <div className="mt-2">
      <ScrollRegion
        id={id}
        label={t('arguments')}
        hidden={isFolded}
        ref={seen.ref}
        onScroll={seen.onScroll}
        className="max-h-[min(15rem,40dvh)] rounded-md bg-surface2 px-2 py-1.5"
      >
        <Content args={args} />
      </ScrollRegion>
      {(isFolded || seen.isLong || args.kind !== 'known') && <Fold {...props} controls={id} />}
    </div>
  );
}

function Content({ args }: { args: ArgumentsToDecide }) {
  const t = useTranslations('card.approval');
  switch (args.kind) {
    case 'known':
      return (
        <pre className="mono whitespace-pre-wrap wrap-anywhere">
          <MarkedText text={argumentsText(args.params)} keepLayout />
        </pre>
      );
    case 'fetching':
      return <p role="status">{t('fetching')}</p>;
    case 'failed':
      return (
        <div role="alert" className="flex flex-wrap items-center gap-2">
          <p className="text-error wrap-anywhere">
            {t('notFetched')} <MarkedText text={args.problem} />
          </p>
          <Button size="sm" onClick={args.onAgain}>
            {t('fetchAgain')}
          </Button>
        </div>
      );
  }
}

function Fold({ bytes, isFolded, onFold, controls }: ArgumentsToReadProps & { controls: string }) {
  const t = useTranslations('card.approval');
  const size = formatBytes(bytes, useLocale());
  return (
    <p className="mt-1 flex flex-wrap items-center gap-x-2 text-xs text-muted">
      {isFolded && <span data-testid="folded">{t('folded', { size })}</span>}
      <button
        type="button"
        aria-expanded={!isFolded}
        aria-controls={controls}
        onClick={() => onFold(!isFolded)}
        className="link-button pointer-coarse:min-h-11"
      >
        {isFolded ? t('unfold') : t('fold', { size })}
      </button>
    </p>
  );
}
