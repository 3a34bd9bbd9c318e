'use client';

import { useTranslations } from 'next-intl';
import { memo } from 'react';
import type { Message, MessagePart } from '#lib/protocol/run';
import { AssistantText } from './assistant-text.tsx';
import { CallLine } from './call-line.tsx';
import { isQuietNotice } from './is-quiet-notice.ts';
import { Notice } from './notice.tsx';
import { useTurnNoticeWords } from './notice-words.ts';
import { StepDetails } from './step-details.tsx';
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
  return <Notice code={code} isQuiet={isQuietNotice(code)} {...wordsFor(part)} />;
}
