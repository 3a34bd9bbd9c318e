'use client';

import { useLocale, useTranslations } from 'next-intl';
import { memo, useState } from 'react';
import { formatDuration } from '#lib/format/amounts';
import type { Card } from '#lib/protocol/card';
import type { Message, MessagePart } from '#lib/protocol/run';
import { useCall, useRevealCall, useUi } from '../providers/workbench-context.tsx';
import { cardView } from '../tool-call/card-view.ts';
import { StatusChip } from '../tool-call/status-chip.tsx';
import { late } from '../ui/late.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { AssistantText } from './assistant-text.tsx';
import { isQuietNotice } from './is-quiet-notice.ts';
import { MissingCall, type MissingCallProps } from './missing-call.tsx';
import { Notice } from './notice.tsx';
import { useTurnNoticeWords } from './notice-words.ts';
import type { StepRequestsProps } from './step-requests.tsx';
import { UserBubble } from './user-bubble.tsx';

/** One message. It is drawn again only when it is another value: the fold keeps the rest. */
export const MessageView = memo(function MessageView({ message }: { message: Message }) {
  if (message.role === 'user') return <UserBubble message={message} />;
  const last = message.parts.length - 1;
  return (
    <div className="space-y-1.5">
      {keyed(message.parts).map(([key, part], at) => (
        <Part
          key={key}
          runId={message.run_id}
          part={part}
          streaming={message.status === 'streaming' && at === last}
        />
      ))}
      {message.status === 'done' && (
        <StepDetails runId={message.run_id} messageId={message.message_id} />
      )}
    </div>
  );
});

/** A part's place is its identity: parts are only ever appended. */
const keyed = (parts: readonly MessagePart[]): [string, MessagePart][] =>
  parts.map((part, at) => [`part-${at}`, part]);

interface PartProps {
  runId: string;
  part: MessagePart;
  streaming: boolean;
}

function Part({ runId, part, streaming }: PartProps) {
  const t = useTranslations('conversation');
  switch (part.type) {
    case 'text':
      return part.text === '' ? null : <AssistantText text={part.text} streaming={streaming} />;
    case 'reasoning':
      // Thoughts that the provider keeps to itself have no text.
      return part.text === '' ? null : (
        <details className="text-muted">
          <summary className="min-h-6">{t(streaming ? 'thinking' : 'reasoning')}</summary>
          <p className="whitespace-pre-wrap border-l-2 border-line pl-3">{part.text}</p>
        </details>
      );
    case 'tool_call':
      return <CallLine runId={runId} callId={part.tool_call_id} />;
    case 'file':
      return null;
    case 'notice':
      return <TurnNotice part={part} />;
  }
}

function TurnNotice({ part }: { part: Extract<MessagePart, { type: 'notice' }> }) {
  const wordsFor = useTurnNoticeWords();
  const { code } = part;
  return <Notice code={code} isQuiet={isQuietNotice(code)} words={wordsFor(part)} />;
}

/** A call within the conversation: one quiet line that leads to its card. */
function CallLine({ runId, callId }: MissingCallProps) {
  const t = useTranslations('conversation');
  const common = useTranslations('common');
  const { card, isDeleted } = useCall(callId) ?? {};
  const reveal = useRevealCall();
  const show = useUi((state) => state.show);
  if (!card) return <MissingCall runId={runId} callId={callId} />;
  if (isDeleted) return <p className="px-1.5 py-0.5 text-muted">{common('callDeleted')}</p>;
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

const StepRequests = late<StepRequestsProps>(() =>
  import('./step-requests.tsx').then((module) => module.StepRequests),
);

/** Under a message of the agent: which model wrote it, how long it took and what it cost. Fetched when opened. */
function StepDetails(props: StepRequestsProps) {
  const t = useTranslations('conversation');
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      data-testid="step-details"
      onToggle={(event) => setOpen(event.currentTarget.open)}
      className="text-xs text-muted"
    >
      <summary className="min-h-6 w-fit cursor-pointer rounded px-1.5 leading-6 hover:text-fg pointer-coarse:leading-11">
        {t('details')} <span className="sr-only">{t('detailsOf')}</span>
      </summary>
      {isOpen && <StepRequests {...props} />}
    </details>
  );
}
