'use client';

import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { currentMessages } from '#lib/protocol/current-messages';
import type { Message } from '#lib/protocol/run';
import { MessageView } from './message-view.tsx';
import { PersonMessage, type PersonMessageProps } from './person-message.tsx';

export interface ConversationMessagesProps {
  messages: readonly Message[];
  resend: PersonMessageProps['resend'];
  /** Those of people that no step has read, nor will. */
  unread: ReadonlySet<Message>;
}

/** The messages of a conversation; what was replaced is folded where it stood. */
export function ConversationMessages({ messages, resend, unread }: ConversationMessagesProps) {
  const current = new Set(currentMessages(messages));
  return stretches(messages, current).map(({ first, isCurrent, members }) =>
    isCurrent ? (
      members.map((message) =>
        message.role === 'user' ? (
          <PersonMessage
            key={message.message_id}
            message={message}
            resend={resend}
            isUnread={unread.has(message)}
          />
        ) : (
          <MessageView key={message.message_id} message={message} />
        ),
      )
    ) : (
      <ReplacedMessages key={`replaced-${first}`} messages={members} />
    ),
  );
}

/** Fetched and drawn only when it is opened: it may hold many cards. */
function ReplacedMessages({ messages }: { messages: readonly Message[] }) {
  const t = useTranslations('conversation.edit');
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      data-testid="replaced"
      onToggle={(event) => setOpen(event.currentTarget.open)}
      className="text-muted"
    >
      <summary className="min-h-6 w-fit cursor-pointer rounded px-1.5 text-xs leading-6 pointer-coarse:leading-11">
        {t('replaced', { count: messages.length })}
      </summary>
      {isOpen && (
        <div className="space-y-3 border-l-2 border-line pl-3">
          {messages.map((message) => (
            <MessageView key={message.message_id} message={message} />
          ))}
        </div>
      )}
    </details>
  );
}

interface Stretch {
  readonly first: string;
  readonly isCurrent: boolean;
  readonly members: Message[];
}

function stretches(messages: readonly Message[], current: ReadonlySet<Message>): Stretch[] {
  const found: Stretch[] = [];
  for (const message of messages) {
    const isCurrent = current.has(message);
    const last = found.at(-1);
    if (last?.isCurrent === isCurrent) last.members.push(message);
    else found.push({ first: message.message_id, isCurrent, members: [message] });
  }
  return found;
}
