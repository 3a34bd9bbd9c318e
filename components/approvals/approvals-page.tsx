'use client';

import Link from 'next/link';
import { useLocale, useTranslations } from 'next-intl';
import { useCallback, useId, useMemo, useRef, useState } from 'react';
import type { ApiResult } from '#lib/api/api-result';
import { hashOfCall } from '#lib/call/call-address';
import { formatRelativeTime } from '#lib/format/amounts';
import type { ApprovalListing } from '#lib/protocol/watch-messages';
import { keyOf, questionsOf, withApprovals } from '#lib/stores/listings-store';
import { MissingCall } from '../conversation/missing-call.tsx';
import { useFailureToast } from '../failure/format-failure.ts';
import {
  useApprovals,
  useApprovalsLeftOut,
  useCall,
  useConnection,
  useListingsKnown,
  useRun,
  useTitle,
  useWorkbench,
} from '../providers/workbench-context.tsx';
import { useNow } from '../shell/use-now.ts';
import { ApprovalVoice } from '../tool-call/approval-voice.tsx';
import type { CardActions } from '../tool-call/card-actions.ts';
import { ConnectedCard } from '../tool-call/connected-card.tsx';
import { useCardActions } from '../tool-call/use-card-actions.tsx';
import { useCardKeys } from '../tool-call/use-card-keys.ts';
import { useFocusStays } from '../tool-call/use-focused-card.ts';
import { useSteadyDecisions } from '../tool-call/use-steady-decisions.ts';
import { Button } from '../ui/button.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { DenyShown } from './deny-shown.tsx';
import { useInboxFilter } from './inbox-filter.tsx';
import { useDecided } from './use-decided.ts';
import { useHeldHeights, useHeldRequests } from './use-held-requests.ts';
import { useOrigin } from './use-origin.ts';

const LIST = { role: 'list' };
/** Cards drawn at first, and more at each press: whole cards of hundreds would make each key slow. */
const DRAWN = 50;

/** All that waits for a person, over all conversations, with the decision right there. */
export function ApprovalsPage() {
  const t = useTranslations('approvals');
  const waiting = questionsOf(useApprovals());
  const isKnown = useListingsKnown();
  const isStale = useConnection().feed.kind !== 'connected';
  const { actions: all, dialog } = useCardActions();
  const { ownKeys, actions } = useOwnDecisions(all);
  const page = useRef<HTMLDivElement>(null);
  const isHeld = useSteadyDecisions(page);
  const shownWaiting = useHeldRequests(waiting, isHeld, ownKeys);
  useHeldHeights(page, isHeld);
  useFocusStays(page);
  const decided = useDecided(shownWaiting);
  const move = useCallback((by: number) => focusNext(page.current, by), []);
  useCardKeys({ move, actions });
  const [drawn, setDrawn] = useState(DRAWN);
  const now = useNow(waiting.length > 0);
  const { shown: wanted, isFiltered, bar } = useInboxFilter(shownWaiting);
  const shown = { isStale, now, actions };
  const drawnNow = wanted.slice(0, drawn);
  const more = wanted.length - drawn;
  return (
    <div ref={page} data-held={isHeld ? '' : undefined} className="mx-auto max-w-3xl p-4">
      <h1 className="mb-1 text-lg font-bold">{t('title')}</h1>
      <p className="mb-4 text-muted">{t('text')}</p>
      {isStale && isKnown && <p className="mb-2 text-xs text-wait">{t('stale')}</p>}
      {!isKnown && <p className="text-muted">{t('loading')}</p>}
      {isKnown && shownWaiting.length === 0 && <p className="mb-4 text-muted">{t('none')}</p>}
      {bar}
      {isFiltered && (
        <p role="status" className="mb-2 text-xs text-muted">
          {t('filter.shown', { count: wanted.length, all: shownWaiting.length })}
        </p>
      )}
      <DenyShown
        shown={drawnNow.filter((one) => waiting.includes(one))}
        keepsPlace={drawnNow.length > 1}
      />
      <Requests title={t('waiting')} requests={drawnNow} waiting={waiting} {...shown} />
      {more > 0 && (
        <Button className="mb-6" onClick={() => setDrawn(drawn + DRAWN)}>
          {t('more', { count: more })}
        </Button>
      )}
      <MoreApprovals />
      <Requests title={t('decided')} requests={decided} {...shown} />
      <ApprovalVoice />
      {dialog}
    </div>
  );
}

interface Shown {
  isStale: boolean;
  /** Milliseconds. */
  now: number;
  actions: CardActions;
}

type RequestsProps = Shown & {
  title: string;
  requests: readonly ApprovalListing[];
  /** Of these, those that are not in it are there because the list is held. */
  waiting?: readonly ApprovalListing[];
};

function Requests({ title, requests, waiting = requests, ...shown }: RequestsProps) {
  const id = useId();
  const ids = new Set(waiting.map((one) => one.tool_call_id));
  if (requests.length === 0) return null;
  return (
    <section aria-labelledby={id} className="mb-6">
      <h2 id={id} className="mb-2 text-base font-bold">
        {title}
      </h2>
      <ol aria-labelledby={id} className="grid gap-4" {...LIST}>
        {requests.map((request) => (
          <li
            key={request.tool_call_id}
            data-request=""
            data-left={ids.has(request.tool_call_id) ? undefined : ''}
          >
            <Request request={request} {...shown} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Request({ request, now, ...shown }: Shown & { request: ApprovalListing }) {
  const { tool_call_id: callId, run_id: run } = request;
  const card = useCall(callId)?.card;
  return (
    <>
      <AskedBy request={request} now={now} />
      {/* A snapshot may have had no room for it. */}
      {card ? (
        <ConnectedCard callId={callId} {...shown} />
      ) : (
        <MissingCall runId={run} callId={callId} isOpen />
      )}
    </>
  );
}

function focusNext(page: HTMLElement | null, by: number): void {
  const cards = [...(page?.querySelectorAll<HTMLElement>('[data-testid="tool-card"]') ?? [])];
  const at = cards.findIndex((card) => card.contains(document.activeElement));
  const next = at < 0 ? 0 : Math.min(cards.length - 1, Math.max(0, at + by));
  cards[next]?.focus();
}

/** Shows who asks, for whom and since when, and links to the conversation by its title (IB10). */
function AskedBy({ request, now }: { request: ApprovalListing; now: number }) {
  const t = useTranslations('approvals');
  const locale = useLocale();
  const { tool_call_id: callId, requested_by: caller = '' } = request;
  const { runId, agents } = useOrigin(callId, request.run_id);
  const run = useRun(runId);
  const title = useTitle(runId);
  const at = useCall(callId)?.card.created_at;
  const ago = at === undefined ? '' : formatRelativeTime(at * 1_000, now, locale);
  const owner = run?.owner?.name;
  const who = (() => {
    if (!caller.startsWith('run:')) return caller;
    const agent = agents.join(' > ');
    if (agent === '') return owner === undefined ? t('agent') : t('agentOf', { owner });
    return owner === undefined ? t('subAgent', { agent }) : t('subAgentOf', { agent, owner });
  })();
  return (
    <p className="mb-1 text-xs text-muted wrap-anywhere" data-testid="asked-by">
      <MarkedText text={t('from', { caller: who, ago })} />{' '}
      <Link
        href={`/?run=${encodeURIComponent(runId)}${hashOfCall(callId)}`}
        title={runId}
        className="underline underline-offset-2"
      >
        <MarkedText text={t('inRun', { run: title ?? runId })} />
      </Link>
    </p>
  );
}

/** The list has so many of the newest decisions. */
const MOST = 50;

/** The keys of questions that were decided on this page, and actions that note them. */
function useOwnDecisions(actions: CardActions) {
  const { listings } = useWorkbench();
  const [ownKeys, setOwnKeys] = useState<ReadonlySet<string>>(new Set<string>());
  const noting = useMemo<CardActions>(() => {
    const note = (callId: string) => {
      const one = listings.getState().approvals.find(({ tool_call_id: id }) => id === callId);
      if (one) setOwnKeys((before) => new Set([...before, keyOf(one)].slice(-MOST)));
    };
    return {
      ...actions,
      decide: (callId, input) => {
        note(callId);
        return actions.decide(callId, input);
      },
      answer: (callId, answer) => {
        note(callId);
        return actions.answer(callId, answer);
      },
    };
  }, [actions, listings]);
  return { ownKeys, actions: noting };
}

interface PageOfApprovals {
  readonly approvals: readonly ApprovalListing[];
  readonly next_cursor: string | null;
}

const PATH = '/v1/approvals?limit=200';

/** That more waits than the feed had room for, and a way to it; nothing where it had. */
function MoreApprovals() {
  const t = useTranslations('approvals');
  const { api, listings } = useWorkbench();
  const showFailure = useFailureToast();
  const count = useApprovalsLeftOut();
  const [isLoading, setIsLoading] = useState(false);
  if (count === 0) return null;

  /** From the first page on, as a snapshot may have come meanwhile, until one has something new. */
  const load = async () => {
    const before = listings.getState().approvals.length;
    for (let next: string | null = null; ; ) {
      const path: string = next === null ? PATH : `${PATH}&cursor=${encodeURIComponent(next)}`;
      const answer: ApiResult<PageOfApprovals> = await api.request({ method: 'GET', path });
      if (!answer.ok) return showFailure(t('notFetched'), answer);
      const page: PageOfApprovals = answer.value;
      next = page.next_cursor;
      listings.setState((state) => withApprovals(state, page.approvals, page.next_cursor === null));
      if (next === null || listings.getState().approvals.length > before) return;
    }
  };
  const press = async () => {
    if (isLoading) return;
    setIsLoading(true);
    await load();
    setIsLoading(false);
  };
  return (
    <div
      data-testid="more-approvals"
      className="mb-6 flex flex-wrap items-center gap-x-3 gap-y-1 text-muted"
    >
      <p role="status">{t('leftOut', { count })}</p>
      {/* Not disabled while it loads: that would take the focus away from it. */}
      <Button size="sm" aria-disabled={isLoading} onClick={() => void press()}>
        {t(isLoading ? 'loading' : 'fetch')}
      </Button>
    </div>
  );
}
