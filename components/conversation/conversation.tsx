'use client';

import { Info } from 'lucide-react';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { useEffect, useRef, useState } from 'react';
import { hashOfCall } from '#lib/call/call-address';
import type { Message, RunParent, RunSummary } from '#lib/protocol/run';
import { useFailureToast, useFormatFailure } from '../failure/format-failure.ts';
import {
  useAnnounce,
  useApi,
  useChosenModel,
  useConnection,
  useIsViewer,
  useMessages,
  useModels,
  useRun,
  useUi,
} from '../providers/workbench-context.tsx';
import { ModelSelect } from '../shell/model-select.tsx';
import { ViewerNote } from '../shell/viewer-note.tsx';
import { late, useFetchedWhenIdle } from '../ui/late.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { Composer } from './composer.tsx';
import { EmptyConversation } from './empty-conversation.tsx';
import { Notice } from './notice.tsx';
import { useTurnNoticeWords } from './notice-words.ts';
import { RunSwitcher } from './run-switcher.tsx';
import type { RunViewProps } from './run-view.tsx';
import { useFetchedRun } from './use-fetched-run.ts';
import { useSelectedRun } from './use-selected-run.ts';
import { useSend } from './use-send.ts';

/** A new conversation has nothing to show yet, so that its page is usable before. */
const RunView = late<RunViewProps>(
  () => import('./run-view.tsx').then((module) => module.RunView),
  { frame: (words) => <div className="min-h-0 flex-1 px-4 py-3">{words}</div> },
);

/** One conversation with the agent: messages, calls, and the field to write in. */
export function Conversation() {
  const t = useTranslations('conversation');
  const request = useTranslations('errors.request');
  useFetchedWhenIdle(RunView);
  const formatFailure = useFormatFailure();
  const { storeFailed } = useConnection();
  const [runId, select] = useSelectedRun();
  const run = useRun(runId);
  const { send, pending, failure } = useSend();
  const { stop, stopping } = useStop(run);
  const focusRequests = useUi((state) => state.focusMessage);
  const requestedText = useUi((state) => state.messageText);
  const isViewer = useIsViewer();
  return (
    <div className="flex h-full flex-col">
      <div className="flex flex-wrap items-center justify-between gap-2 px-4 pb-1 pt-3">
        <h2 className="min-w-0 text-lg font-bold wrap-anywhere">
          {run?.parent ? <SubAgentTitle parent={run.parent} /> : t('title')}
        </h2>
        <RunSwitcher selected={runId} onSelect={select} />
      </div>
      {runId === null ? (
        <div className="min-h-0 flex-1 overflow-y-auto px-4 py-3">
          <EmptyConversation onStart={(text) => void send(text)} />
        </div>
      ) : (
        <>
          <RunAnnouncements runId={runId} />
          <RunView key={runId} runId={runId} onSend={send} />
        </>
      )}
      <div className="space-y-2 border-t border-line px-4 py-3">
        {failure && <Notice code={failure.code} words={formatFailure(failure)} />}
        <div className={runId === null ? '' : 'max-lg:hidden'}>
          <RehearsalNotice />
        </div>
        {run?.parent ? (
          <p className="text-muted">{t('subAgent.note')}</p>
        ) : isViewer ? (
          <ViewerNote />
        ) : (
          <>
            <ModelSelect className="flex xl:hidden" />
            <Composer
              runId={runId}
              running={run?.status === 'running'}
              stopping={stopping}
              pending={pending}
              blocked={storeFailed ? request('store_failed') : undefined}
              focusRequests={focusRequests}
              requestedText={requestedText}
              onSend={send}
              onStop={stop}
            />
          </>
        )}
      </div>
    </div>
  );
}

/** Apart from what shows a run, which may still be on its way when the run ends. */
function RunAnnouncements({ runId }: { runId: string }) {
  useRunAnnouncements(useRun(runId), useMessages(runId));
  return null;
}

/** Says plainly that what answers is no language model, and how to get one. */
function RehearsalNotice() {
  const t = useTranslations('conversation.rehearsal');
  const chosen = useChosenModel();
  const models = useModels();
  if (!models.find((one) => one.model === chosen)?.rehearsal) return null;
  const isOnlyOne = models.every((one) => one.rehearsal);
  return (
    <details className="rounded-lg border border-line bg-surface px-3 py-1.5 text-[13px]">
      <summary className="flex min-h-6 items-center gap-2 font-medium">
        <Info aria-hidden className="size-4 shrink-0 text-wait" />
        {t('title')}
      </summary>
      <p className="mt-1 text-muted">
        {t('text')} {t(isOnlyOne ? 'setOne' : 'chooseOne')}
      </p>
    </details>
  );
}

/** Whose work a sub-agent's run is, with the way to the call that it works for. */
function SubAgentTitle({ parent: { run_id: runId, call_id, agent } }: { parent: RunParent }) {
  const t = useTranslations('conversation');
  const above = useRun(runId);
  useFetchedRun(runId);
  return t.rich('subAgent.title', {
    name: agent,
    above: () => (
      <Link
        href={`/?run=${encodeURIComponent(runId)}${hashOfCall(call_id)}`}
        className="underline underline-offset-2"
      >
        <MarkedText text={above?.title || t('untitled')} />
      </Link>
    ),
  });
}

/** Enough of an answer to know what it is about. */
const ANNOUNCED_CHARS = 300;

/** Says once, when a turn ends, how it ended. */
function useRunAnnouncements(run: RunSummary | undefined, messages: readonly Message[]): void {
  const t = useTranslations('conversation');
  const announce = useAnnounce();
  const wordsFor = useTurnNoticeWords();
  const before = useRef<{ id: string; status: string } | null>(null);
  useEffect(() => {
    const last = before.current;
    before.current = run ? { id: run.run_id, status: run.status } : null;
    if (!run || last?.id !== run.run_id || last.status !== 'running') return;
    if (run.status === 'idle') announce(t('announceDone', { text: lastText(messages) }));
    if (run.status === 'cancelled') announce(t('announceStopped'));
    if (run.status === 'failed') {
      const { code = '', message: text = '', params } = run.error ?? {};
      announce(t('announceFailed', { text: wordsFor({ code, text, params }) }));
    }
  }, [run, messages, announce, wordsFor, t]);
}

function lastText(messages: readonly Message[]): string {
  const parts = messages.at(-1)?.parts ?? [];
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(' ');
  // Marks of the formatting would be read out; an underscore within a name is none.
  return text.replace(/[*`#>|]|\b_|_\b/g, '').slice(0, ANNOUNCED_CHARS);
}

/** Stops a run. The screen says so at once, before the server has answered. */
function useStop(run: RunSummary | undefined): { stop: () => void; stopping: boolean } {
  const api = useApi();
  const t = useTranslations('conversation');
  const showFailure = useFailureToast();
  const [askedFor, setAskedFor] = useState<string | null>(null);
  const running = run?.status === 'running';
  const stop = async () => {
    if (!run || !running) return;
    setAskedFor(run.run_id);
    const answer = await api.cancelRun(run.run_id);
    setAskedFor(null);
    if (!answer.ok) showFailure(t('stopFailed'), answer);
  };
  return { stop: () => void stop(), stopping: running && askedFor === run.run_id };
}
