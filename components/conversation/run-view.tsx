'use client';

import { RotateCcw } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useStore } from 'zustand';
import type { Message, RunSummary } from '#lib/protocol/run';
import { useFormatFailure } from '../failure/format-failure.ts';
import { useIsOutsideRun } from '../providers/use-is-outside-run.ts';
import {
  useHasMessages,
  useIsViewer,
  useMessages,
  useRun,
  useWorkbench,
} from '../providers/workbench-context.tsx';
import { Button } from '../ui/button.tsx';
import { late } from '../ui/late.tsx';
import { ConversationMessages } from './conversation-messages.tsx';
import { Notice } from './notice.tsx';
import { OutsideRun } from './outside-run.tsx';
import { RunAutonomy } from './run-autonomy.tsx';
import { RunEnd } from './run-end.tsx';
import { RunStatusLine } from './run-status-line.tsx';
import { RunTools } from './run-tools.tsx';
import { RunUsageLine } from './run-usage-line.tsx';
import { Transcript } from './transcript.tsx';
import { useFetchedRun } from './use-fetched-run.ts';
import { useResend } from './use-resend.ts';

/** Few conversations are as long. */
const OlderMessages = late(() =>
  import('./older-messages.tsx').then((module) => module.OlderMessages),
);

export interface RunViewProps {
  runId: string;
  onSend: (text: string) => Promise<string | null>;
}

/** The messages of one run, and how its last turn ended. */
export function RunView(props: RunViewProps) {
  const run = useRun(props.runId);
  const usage = run?.usage;
  return (
    <>
      {usage && <RunUsageLine usage={usage} />}
      {run?.model != null && <RunTools runId={props.runId} />}
      {run?.model != null && !run.parent && <RunAutonomy runId={props.runId} />}
      <Transcript>
        <Messages {...props} />
      </Transcript>
    </>
  );
}

function Messages({ runId, onSend }: RunViewProps) {
  const t = useTranslations('conversation');
  const whatToDo = useTranslations('errors.whatToDo');
  const formatFailure = useFormatFailure();
  const run = useRun(runId);
  const messages = useMessages(runId);
  const hasMessages = useHasMessages(runId);
  // How many messages are older than those that are here.
  const older = useStore(useWorkbench().runs, (state) => state.older[runId] ?? 0);
  const { failure, again } = useFetchedRun(runId);
  const { resend, failure: resendFailure } = useResend(runId);
  const isViewer = useIsViewer();
  // A run of an outside agent has no model, and its messages no answers; a sub-agent's takes none.
  const mayWrite = !isViewer && run?.parent === undefined;
  const mayResend = mayWrite && run?.model != null && run.status !== 'running';
  const isOutside = useIsOutsideRun(runId);
  const asked = messages.findLast(({ role }) => role === 'user');
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
  if (isOutside) return <OutsideRun runId={runId} />;
  return (
    <>
      {older > 0 && <OlderMessages runId={runId} before={older} />}
      <ConversationMessages
        messages={messages}
        resend={mayResend ? resend : undefined}
        unread={unreadMessages(run, messages)}
      />
      {resendFailure && <Notice code={resendFailure.code} words={formatFailure(resendFailure)} />}
      <RunStatusLine
        run={run}
        isWaiting={isMessageWaiting(run, messages)}
        isUnanswered={
          messages.at(-1)?.status === 'streaming' && messages.at(-1)?.parts.length === 0
        }
      />
      <div className="flex flex-wrap items-center gap-2 empty:hidden">
        {mayResend && run.status !== 'failed' && asked && messages.at(-1) !== asked && (
          <Button size="sm" onClick={() => void resend(asked.message_id)}>
            <RotateCcw aria-hidden className="size-4" />
            {t('edit.again')}
          </Button>
        )}
        <RunEnd {...{ run, messages, resend }} onSend={(text) => void onSend(text)} />
      </div>
    </>
  );
}

/**
 * Whether a person's message stands last while a step runs: its tools too, until the next step
 * begins its own message. The first message of a turn comes before its first step.
 */
const isMessageWaiting = (run: RunSummary, messages: readonly Message[]): boolean =>
  run.step > 0 && messages.at(-1)?.role === 'user';

const NONE: ReadonlySet<Message> = new Set();

/** Those behind the end of a turn: it was stopped, or failed, before a step read them. */
function unreadMessages(run: RunSummary, messages: readonly Message[]): ReadonlySet<Message> {
  if (run.status === 'running') return NONE;
  const answered = messages.findLastIndex(({ role }) => role !== 'user');
  return answered < 0 ? NONE : new Set(messages.slice(answered + 1));
}
