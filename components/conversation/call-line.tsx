'use client';

import { useLocale, useTranslations } from 'next-intl';
import { formatDuration } from '#lib/format/format-duration';
import type { Card } from '#lib/protocol/card';
import { useCall, useRevealCall, useUi } from '../providers/workbench-context.tsx';
import { cardView } from '../tool-call/card-view.ts';
import { StatusChip } from '../tool-call/status-chip.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { MissingCall, type MissingCallProps } from './missing-call.tsx';

/** A call within the conversation: one quiet line that leads to its card. */
export function CallLine({ runId, callId }: MissingCallProps) {
  const t = useTranslations('conversation');
  const { card, isDeleted } = useCall(callId) ?? {};
  const reveal = useRevealCall();
  const show = useUi((state) => state.show);
  if (!card) return <MissingCall runId={runId} callId={callId} />;
  if (isDeleted) return <p className="px-1.5 py-0.5 text-muted">{t('callDeleted')}</p>;
  const { kind, tone } = cardView(card);
  return (
    <button
      type="button"
      data-testid="call-line"
      data-call-id={callId}
      onClick={() => {
        show('live');
        reveal(callId);
      }}
      className="flex min-h-8 max-w-full items-center gap-2 rounded-md px-1.5 py-0.5 text-left hover:bg-surface2 pointer-coarse:min-h-11"
    >
      <span className="mono truncate font-semibold">
        <MarkedText text={card.tool_name ?? t('unknownTool')} />
      </span>
      <StatusChip kind={kind} tone={tone} />
      <Duration card={card} />
      <span className="sr-only">{t('showCard')}</span>
    </button>
  );
}

function Duration({ card }: { card: Card }) {
  const locale = useLocale();
  const from = card.started_at ?? card.created_at;
  if (from === undefined || !card.completed_at) return null;
  return (
    <span className="shrink-0 text-xs text-muted tabular-nums">
      {formatDuration((card.completed_at - from) * 1_000, locale)}
    </span>
  );
}
