'use client';

import { useTranslations } from 'next-intl';
import type { Message } from '#lib/protocol/run';
import { useFormatFailure } from '../failure/format-failure.ts';
import { useHasMessages, useMessages, useRun } from '../providers/workbench-context.tsx';
import { Button } from '../ui/button.tsx';
import { MessageView } from './message-view.tsx';
import { Notice } from './notice.tsx';
import { RunEnd } from './run-end.tsx';
import { RunStatusLine } from './run-status-line.tsx';
import { Transcript } from './transcript.tsx';
import { useFetchedRun } from './use-fetched-run.ts';

export interface RunViewProps {
  runId: string;
  onSend: (text: string, model?: string) => Promise<string | null>;
}

/** The messages of one run, and how its last turn ended. */
export const RunView = (props: RunViewProps) => (
  <Transcript>
    <Messages {...props} />
  </Transcript>
);

function Messages({ runId, onSend }: RunViewProps) {
  const t = useTranslations('conversation');
  const whatToDo = useTranslations('errors.whatToDo');
  const formatFailure = useFormatFailure();
  const run = useRun(runId);
  const messages = useMessages(runId);
  const hasMessages = useHasMessages(runId);
  const { failure, again } = useFetchedRun(runId);
  if (failure?.code === 'run_not_found') {
    const words = t('notFound');
    return <Notice code="run_not_found" words={words} advice={whatToDo('run_not_found')} />;
  }
  if (failure) {
    return (
      <Notice code={failure.code} words={formatFailure(failure)}>
        <Button size="sm" onClick={again}>
          {t('callAgain')}
        </Button>
      </Notice>
    );
  }
  if (!run || !hasMessages) return <p className="text-muted">{t('loading')}</p>;
  return (
    <>
      {messages.map((message) => (
        <MessageView key={message.message_id} message={message} />
      ))}
      <RunStatusLine run={run} isWaiting={isMessageWaiting(messages)} />
      <RunEnd run={run} messages={messages} onSend={(text, model) => void onSend(text, model)} />
    </>
  );
}

/** Whether a person's message stands after one that the model is still writing. */
const isMessageWaiting = (messages: readonly Message[]): boolean =>
  messages.at(-1)?.role === 'user' && messages.some(({ status }) => status === 'streaming');
