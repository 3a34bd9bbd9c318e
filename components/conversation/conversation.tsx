'use client';

import { useTranslations } from 'next-intl';
import { useConnection, useMessages, useRun, useUi } from '../providers/workbench-context.tsx';
import { ModelSelect } from '../shell/model-select.tsx';
import { Composer } from './composer.tsx';
import { EmptyConversation } from './empty-conversation.tsx';
import { MessageView } from './message-view.tsx';
import { Notice } from './notice.tsx';
import { useFailureWords } from './notice-words.ts';
import { RehearsalNotice } from './rehearsal-notice.tsx';
import { RunEnd } from './run-end.tsx';
import { RunStatusLine } from './run-status-line.tsx';
import { RunSwitcher } from './run-switcher.tsx';
import { Transcript } from './transcript.tsx';
import { useFetchedRun } from './use-fetched-run.ts';
import { useRunAnnouncements } from './use-run-announcements.ts';
import { useSelectedRun } from './use-selected-run.ts';
import { useSend } from './use-send.ts';
import { useStop } from './use-stop.ts';

/** One conversation with the agent: messages, calls, and the field to write in. */
export function Conversation() {
  const t = useTranslations('conversation');
  const whatToDo = useTranslations('errors.whatToDo');
  const failureWords = useFailureWords();
  const { storeFailed } = useConnection();
  const [runId, select] = useSelectedRun();
  const run = useRun(runId);
  const { send, pending, failure } = useSend();
  const { stop, stopping } = useStop(run);
  const focusWish = useUi((state) => state.focusMessage);
  return (
    <div className="flex h-full flex-col">
      <div className="flex flex-wrap items-center justify-between gap-2 px-4 pb-1 pt-3">
        <h2 className="text-lg font-bold">{t('title')}</h2>
        <RunSwitcher selected={runId} onSelect={select} />
      </div>
      {runId === null ? (
        <div className="min-h-0 flex-1 overflow-y-auto px-4 py-3">
          <EmptyConversation onStart={(text) => void send(text)} />
        </div>
      ) : (
        <Transcript key={runId}>
          <Messages runId={runId} onSend={send} />
        </Transcript>
      )}
      <div className="space-y-2 border-t border-line px-4 py-3">
        {failure && <Notice code={failure.code} {...failureWords(failure)} />}
        <div className={runId === null ? '' : 'max-lg:hidden'}>
          <RehearsalNotice />
        </div>
        <ModelSelect className="flex lg:hidden" />
        <Composer
          runId={runId}
          running={run?.status === 'running'}
          stopping={stopping}
          pending={pending}
          blocked={storeFailed ? whatToDo('store_failed') : undefined}
          focusWish={focusWish}
          onSend={send}
          onStop={stop}
        />
      </div>
    </div>
  );
}

interface MessagesProps {
  runId: string;
  onSend: (text: string, model?: string) => Promise<boolean>;
}

function Messages({ runId, onSend }: MessagesProps) {
  const t = useTranslations('conversation');
  const whatToDo = useTranslations('errors.whatToDo');
  const run = useRun(runId);
  const messages = useMessages(runId);
  const missing = useFetchedRun(runId);
  useRunAnnouncements(run, messages);
  if (missing) {
    const words = t('notFound');
    return <Notice code="run_not_found" words={words} advice={whatToDo('run_not_found')} />;
  }
  if (!run) return <p className="text-muted">{t('loading')}</p>;
  return (
    <>
      {messages.map((message) => (
        <MessageView key={message.message_id} message={message} />
      ))}
      <RunStatusLine run={run} />
      <RunEnd run={run} messages={messages} onSend={(text, model) => void onSend(text, model)} />
    </>
  );
}
