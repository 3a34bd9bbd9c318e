'use client';

import { Pencil } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { type KeyboardEvent, useRef, useState } from 'react';
import { currentMessages } from '#lib/protocol/current-messages';
import type { Message } from '#lib/protocol/run';
import { useIsViewer, useUi } from '../providers/workbench-context.tsx';
import { Button } from '../ui/button.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { MessageView } from './message-view.tsx';
import { textOf, UserBubble } from './user-bubble.tsx';

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

interface PersonMessageProps {
  message: Message;
  /** Sends it anew; undefined where that cannot be now. Resolves to whether it was sent. */
  resend: ((messageId: string, changes: { text: string }) => Promise<boolean>) | undefined;
  /** The turn ended before a step read it. */
  isUnread?: boolean;
}

/** A message of a person, which can be edited and sent anew. */
function PersonMessage({ isUnread = false, ...props }: PersonMessageProps) {
  return (
    <>
      <EditableMessage {...props} />
      {isUnread && <UnreadMark text={textOf(props.message)} />}
    </>
  );
}

/** Beneath a message that no model has read, with a way to send it after all. */
function UnreadMark({ text }: { text: string }) {
  const t = useTranslations('conversation');
  const wantMessage = useUi((state) => state.wantMessage);
  const isViewer = useIsViewer();
  return (
    <div className="flex flex-wrap items-center justify-end gap-2" data-testid="unread">
      <span className="chip">{t('unread')}</span>
      {!isViewer && (
        <Button size="sm" onClick={() => wantMessage(text)}>
          {t('putBack')}
        </Button>
      )}
    </div>
  );
}

function EditableMessage({ message, resend }: Omit<PersonMessageProps, 'isUnread'>) {
  const t = useTranslations('conversation.edit');
  const [isEditing, setEditing] = useState(false);
  const wantMessage = useUi((state) => state.wantMessage);
  const button = useRef<HTMLButtonElement>(null);
  if (!resend) return <UserBubble message={message} />;
  const close = () => {
    setEditing(false);
    requestAnimationFrame(() => button.current?.focus());
  };
  if (isEditing) {
    const send = async (text: string) => {
      if (!(await resend(message.message_id, { text }))) return;
      setEditing(false);
      // Not the pencil, whose tooltip would cover the answer.
      wantMessage();
    };
    return (
      <EditedMessage text={textOf(message)} onSend={(text) => void send(text)} onCancel={close} />
    );
  }
  return (
    <div className="flex items-start justify-end gap-1 [&>:last-child]:ml-0">
      <IconButton ref={button} variant="plain" label={t('edit')} onClick={() => setEditing(true)}>
        <Pencil aria-hidden className="size-4" />
      </IconButton>
      <UserBubble message={message} />
    </div>
  );
}

interface EditedMessageProps {
  text: string;
  onSend: (text: string) => void;
  onCancel: () => void;
}

/** A message of a person while it is edited. Ctrl or ⌘ and Enter sends it, Escape leaves it as it was. */
function EditedMessage({ text, onSend, onCancel }: EditedMessageProps) {
  const t = useTranslations('conversation.edit');
  const common = useTranslations('common');
  const [edited, setEdited] = useState(text);
  const isEmpty = edited.trim() === '';
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') onCancel();
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !isEmpty) onSend(edited);
  };
  return (
    <div className="ml-auto w-[85%] space-y-2">
      <textarea
        aria-label={t('field')}
        // biome-ignore lint/a11y/noAutofocus: The person has just asked to write here.
        autoFocus
        value={edited}
        onChange={(event) => setEdited(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        className="max-h-60 min-h-20 w-full rounded-[10px] border border-line bg-surface px-3 py-2"
      />
      <p className="text-xs text-muted">{t('hint')}</p>
      <div className="flex justify-end gap-2">
        <Button size="sm" onClick={onCancel}>
          {common('cancel')}
        </Button>
        <Button size="sm" disabled={isEmpty} onClick={() => onSend(edited)}>
          {t('send')}
        </Button>
      </div>
    </div>
  );
}
