'use client';

import { LoaderCircle, RotateCcw } from 'lucide-react';
import { useLocale, useTranslations } from 'next-intl';
import { useEffect, useState } from 'react';
import { useStore } from 'zustand';
import type { Message, RunSummary, RunUsage } from '#lib/protocol/run';
import { useFormatFailure } from '../failure/format-failure.ts';
import { useIsOutsideRun } from '../providers/use-is-outside-run.ts';
import {
  useApprovals,
  useCalls,
  useHasMessages,
  useIsViewer,
  useMessages,
  useModels,
  useOlderCalls,
  useRun,
  useRunPages,
  useWorkbench,
} from '../providers/workbench-context.tsx';
import { Button } from '../ui/button.tsx';
import { late } from '../ui/late.tsx';
import { ConversationMessages } from './conversation-messages.tsx';
import { Notice } from './notice.tsx';
import { RunAutonomy } from './run-autonomy.tsx';
import { RunEnd } from './run-end.tsx';
import { RunTools } from './run-tools.tsx';
import { useTokenWords } from './token-words.ts';
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
  const common = useTranslations('common');
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
    return <Notice code="run_not_found" words={t('notFound')} advice={t('notFoundAdvice')} />;
  }
  if (failure) {
    return (
      <Notice code={failure.code} words={formatFailure(failure)}>
        <Button size="sm" onClick={again}>
          {common('again')}
        </Button>
      </Notice>
    );
  }
  if (!run || !hasMessages) return <p className="text-muted">{common('loading')}</p>;
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
        <RunEnd
          run={run}
          messages={messages}
          resend={resend}
          onSend={(text) => void onSend(text)}
        />
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

/** In place of messages: how many calls an outside agent has made in the run, as far as they are here. */
function OutsideRun({ runId }: { runId: string }) {
  const t = useTranslations('conversation.outside');
  const olderById = useOlderCalls((state) => state.byId);
  const older = useOlderCalls((state) => state.order);
  const live = useCalls(({ byId, order }) => {
    const before = older.filter((id) => !Object.hasOwn(byId, id));
    const isOfRun = (all: typeof byId) => (id: string) => all[id]?.runId === runId;
    return before.filter(isOfRun(olderById)).length + order.filter(isOfRun(byId)).length;
  });
  const isWhole = useRunPages(runId)?.cursor === null;
  return (
    <div className="space-y-1" data-testid="outside-run">
      <p className="font-medium">{t(isWhole ? 'calls' : 'callsAtLeast', { count: live })}</p>
      <p className="text-muted">{t('text')}</p>
    </div>
  );
}

interface RunStatusLineProps {
  run: RunSummary;
  /** A message came during the step; the next one reads it. */
  isWaiting: boolean;
  /** The model was asked, and nothing of its answer is here. */
  isUnanswered: boolean;
}

/** A model that takes so long may have to be loaded first. */
const LOADING_MS = 10_000;

/** "Step 2 of max 10 · model" while the agent works. */
function RunStatusLine({ run, isWaiting, isUnanswered }: RunStatusLineProps) {
  const t = useTranslations('conversation');
  const model = useModels().find((one) => one.model === run.model);
  const [isLoading, setLoading] = useState(false);
  useEffect(() => {
    if (!isUnanswered) return;
    const timer = setTimeout(() => setLoading(true), LOADING_MS);
    return () => {
      clearTimeout(timer);
      setLoading(false);
    };
  }, [isUnanswered]);
  const waitsForPerson = useWaitsForPerson(run.run_id);
  if (run.status !== 'running') return null;
  const step = run.step > 0 ? t('step', { step: run.step, max: run.max_steps }) : t('starting');
  return (
    <p className="flex flex-wrap items-center gap-2 text-muted" data-testid="run-status">
      <LoaderCircle aria-hidden className="spin size-4 shrink-0 text-doing" />
      {[step, model?.label ?? run.model].filter(Boolean).join(' · ')}
      {waitsForPerson && (
        <span className="chip" data-testid="waits-for-person">
          {t('waitsForPerson')}
        </span>
      )}
      {isLoading && <span className="chip">{t('modelLoading')}</span>}
      {isWaiting && <span className="chip">{t('messageWaits')}</span>}
    </p>
  );
}

/** True while a call of the run, or of a sub-agent below it, waits for a person. */
function useWaitsForPerson(runId: string): boolean {
  const asking = useApprovals();
  return useStore(useWorkbench().runs, ({ runs }) =>
    asking.some(({ run_id }) => {
      // The walk is as deep as sub-agents go, so that it ends where ids run in a circle.
      let above: string | undefined = run_id;
      for (let depth = 0; above !== undefined && above !== runId && depth < DEEPEST; depth += 1) {
        above = Object.hasOwn(runs, above) ? runs[above]?.parent?.run_id : undefined;
      }
      return above === runId;
    }),
  );
}

const DEEPEST = 4;

/** Digits behind the point: most runs cost less than a cent. */
const COST_DIGITS = 4;

/** What a conversation has used by now: tokens, and what they cost where prices are configured; with its sub-agents, too. */
function RunUsageLine({ usage }: { usage: RunUsage }) {
  const t = useTranslations('conversation.usage');
  const toWords = useUsageWords();
  const own = toWords(usage);
  const whole = usage.with_children && toWords(usage.with_children);
  if (!own && !whole) return null;
  return (
    <p data-testid="run-usage" className="px-4 text-xs text-muted">
      {[own, whole && t('withChildren', { usage: whole })].filter(Boolean).join(' · ')}
    </p>
  );
}

/** Undefined where the provider counted nothing. */
function useUsageWords(): (usage: RunUsage) => string | undefined {
  const t = useTranslations('conversation.usage');
  const tokenWords = useTokenWords();
  const locale = useLocale();
  return (usage) => {
    const { cost, requests, uncounted_requests: uncounted } = usage;
    if (requests === uncounted) return undefined;
    return [
      t('tokens', { tokens: tokenWords(usage) ?? '' }),
      ...(uncounted > 0 ? [t('uncounted', { count: uncounted })] : []),
      ...(cost ? [t('cost', { amount: money(cost, locale) })] : []),
      ...(cost && cost.unpriced_requests > 0
        ? [t('unpriced', { count: cost.unpriced_requests })]
        : []),
    ].join(' · ');
  };
}

const money = ({ amount, currency }: NonNullable<RunUsage['cost']>, locale: string): string =>
  new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    minimumFractionDigits: 2,
    maximumFractionDigits: COST_DIGITS,
  }).format(amount);
