'use client';

import { useTranslations } from 'next-intl';
import { useFormatFailure } from '../failure/format-failure.ts';
import {
  useConnection,
  useIsViewer,
  useMessages,
  useRun,
  useUi,
} from '../providers/workbench-context.tsx';
import { ModelSelect } from '../shell/model-select.tsx';
import { ViewerNote } from '../shell/viewer-note.tsx';
import { late, useFetchedWhenIdle } from '../ui/late.tsx';
import { Composer } from './composer.tsx';
import { EmptyConversation } from './empty-conversation.tsx';
import { Notice } from './notice.tsx';
import { RehearsalNotice } from './rehearsal-notice.tsx';
import { RunSwitcher } from './run-switcher.tsx';
import type { RunViewProps } from './run-view.tsx';
import { SubAgentTitle } from './sub-agent-title.tsx';
import { useRunAnnouncements } from './use-run-announcements.ts';
import { useSelectedRun } from './use-selected-run.ts';
import { useSend } from './use-send.ts';
import { useStop } from './use-stop.ts';

/** A new conversation has nothing to show yet, so that its page is usable before. */
const RunView = late<RunViewProps>(
  () => import('./run-view.tsx').then((module) => module.RunView),
  { frame: (words) => <div className="min-h-0 flex-1 px-4 py-3">{words}</div> },
);

/** One conversation with the agent: messages, calls, and the field to write in. */
export function Conversation() {
  const t = useTranslations('conversation');
  const whatToDo = useTranslations('errors.whatToDo');
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
              blocked={storeFailed ? whatToDo('store_failed') : undefined}
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
