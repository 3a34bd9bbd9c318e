'use client';

import { useTranslations } from 'next-intl';
import { Fragment, type ReactNode } from 'react';
import { childRunOf } from '#lib/protocol/child-run';
import type { Message, MessagePart } from '#lib/protocol/run';
import { AssistantText } from '../conversation/assistant-text.tsx';
import { isQuietNotice } from '../conversation/is-quiet-notice.ts';
import { MissingCall } from '../conversation/missing-call.tsx';
import { Notice } from '../conversation/notice.tsx';
import { useTurnNoticeWords } from '../conversation/notice-words.ts';
import { useFetchedRun } from '../conversation/use-fetched-run.ts';
import { useFormatFailure } from '../failure/format-failure.ts';
import { useCall, useHasMessages, useMessages, useRun } from '../providers/workbench-context.tsx';
import { Button } from '../ui/button.tsx';
import { Disclosure } from './disclosure.tsx';

export interface SubAgentWorkProps {
  /** The call that the sub-agent works for. */
  callId: string;
  agent: string;
  isLive: boolean;
  renderCard: (callId: string) => ReactNode;
}

/** What a sub-agent writes and calls, in the card of the call that it works for (CD33). */
export function SubAgentWork({ callId, agent, isLive, renderCard }: SubAgentWorkProps) {
  const t = useTranslations('card.part');
  return (
    <Disclosure
      label={t('subAgent', { agent })}
      memoryKey={`${callId}:sub-agent`}
      className="mt-1.5"
      openByDefault={isLive}
    >
      {() => <Work callId={callId} renderCard={renderCard} label={t('subAgent', { agent })} />}
    </Disclosure>
  );
}

type WorkProps = Pick<SubAgentWorkProps, 'callId' | 'renderCard'> & { label: string };

/** Repeated because Safari does not expose a list without bullets as one. */
const LIST = { role: 'list' };

function Work({ callId, renderCard, label }: WorkProps) {
  const common = useTranslations('common');
  const formatFailure = useFormatFailure();
  const runId = childRunOf(callId);
  const run = useRun(runId);
  const messages = useMessages(runId);
  const hasMessages = useHasMessages(runId);
  const { failure, again } = useFetchedRun(runId);
  if (failure) {
    return (
      <div className="flex flex-wrap items-center gap-2 text-muted">
        <p>{formatFailure(failure)}</p>
        <Button size="sm" onClick={again}>
          {common('again')}
        </Button>
      </div>
    );
  }
  if (!run || !hasMessages) return <p className="text-muted">{common('loading')}</p>;
  // Another run may have the id that a sub-agent's would have.
  if (run.parent?.call_id !== callId) return null;
  return (
    <ol aria-label={label} {...LIST} className="space-y-2 border-l-2 border-line pl-2">
      {messages.filter(isOwn).flatMap((message) =>
        message.parts.map((part, at) => (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: parts are only ever appended.
            key={`${message.message_id}-${at}`}
            className="min-w-0 empty:hidden"
          >
            <Part
              runId={runId}
              part={part}
              streaming={message.status === 'streaming' && at === message.parts.length - 1}
              renderCard={renderCard}
            />
          </li>
        )),
      )}
    </ol>
  );
}

/** The task is among the arguments of the call. */
const isOwn = ({ role }: Message): boolean => role === 'assistant';

interface PartProps extends Pick<WorkProps, 'renderCard'> {
  runId: string;
  part: MessagePart;
  streaming: boolean;
}

function Part({ runId, part, streaming, renderCard }: PartProps) {
  const wordsFor = useTurnNoticeWords();
  switch (part.type) {
    case 'text':
      return part.text === '' ? null : <AssistantText text={part.text} streaming={streaming} />;
    case 'tool_call':
      return <NestedCall runId={runId} callId={part.tool_call_id} renderCard={renderCard} />;
    case 'notice':
      return <Notice code={part.code} isQuiet={isQuietNotice(part.code)} words={wordsFor(part)} />;
    case 'file':
    case 'reasoning':
      return null;
  }
}

interface NestedCallProps extends Pick<WorkProps, 'renderCard'> {
  runId: string;
  callId: string;
}

function NestedCall({ runId, callId, renderCard }: NestedCallProps) {
  const isHere = useCall(callId) !== undefined;
  if (!isHere) return <MissingCall runId={runId} callId={callId} />;
  return <Fragment key={callId}>{renderCard(callId)}</Fragment>;
}
