'use client';

import { Copy } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useCallback, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import type { VirtualizerHandle } from 'virtua';
import { curlCommand } from '#lib/format/snippets';
import { useFailureToast, useFormatFailure } from '../failure/format-failure.ts';
import {
  useCallsKnown,
  useConnection,
  useListingsKnown,
  useRevealCall,
  useRunPages,
  useTools,
  useWorkbench,
  type Workbench,
} from '../providers/workbench-context.tsx';
import { ScrollRegion } from '../result/scroll-region.tsx';
import { Button } from '../ui/button.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { late, useFetchedWhenIdle } from '../ui/late.tsx';
import { showErrorToast, showToast } from '../ui/toast.ts';
import { ApprovalVoice } from './approval-voice.tsx';
import type { CardListProps } from './card-list.tsx';
import { copyText } from './copy-text.ts';
import { listedFor } from './feed.ts';
import { LiveHeader } from './live-header.tsx';
import { useCardActions } from './use-card-actions.tsx';
import { useCardKeys } from './use-card-keys.ts';
import { useFeed } from './use-feed.ts';
import { useFocusedCard, useFocusStays } from './use-focused-card.ts';
import { focusCard, useReveal } from './use-reveal.ts';
import { useSteadyDecisions } from './use-steady-decisions.ts';

/** Cards and the views of results: a new server has none to show, so that its page is usable before. */
const CardList = late<CardListProps>(
  () => import('./card-list.tsx').then((module) => module.CardList),
  { frame: (words) => <div className="px-4">{words}</div> },
);

/** Every call as a live card, newest first. Fills its parent and scrolls by itself. */
export function LiveCalls({ runId }: { runId?: string }) {
  const t = useTranslations('card.list');
  const titleId = useId();
  useFetchedWhenIdle(CardList);
  const feed = useFeed(runId);
  const isKnown = useListingsKnown();
  const isWhole = useCallsKnown();
  const isStale = useConnection().feed.kind !== 'connected';
  const { calls, older } = useWorkbench();
  const showFailure = useFailureToast();
  const { actions, dialog } = useCardActions();
  const scroller = useRef<HTMLDivElement>(null);
  // A state and no reference: what a person asked to see is shown once the list is there.
  const [list, setList] = useState<VirtualizerHandle | null>(null);
  const focusedId = useFocusedCard(scroller);
  useFocusStays(scroller);
  const isOver = useSteadyDecisions(scroller);
  const { setOver } = feed;
  useEffect(() => setOver(isOver), [setOver, isOver]);
  const focusedIndex = focusedId === null ? -1 : feed.ids.indexOf(focusedId);

  const { ids, release, setFilter } = feed;
  const shown = useRef({ ids, list });
  useLayoutEffect(() => {
    shown.current = { ids, list };
  }, [ids, list]);
  const fetchOnce = (callId: string) => {
    const { single, loadCall } = older.getState();
    if (Object.hasOwn(single, callId)) return;
    void loadCall(callId).then((failure) => failure && showFailure(t('notShown'), failure));
  };
  const goTo = (callId: string): boolean => {
    const id = listedFor(callId, ids, calls.getState(), older.getState());
    const index = ids.indexOf(id);
    if (index < 0) {
      // Hidden by the filter or the pause: shown with the next list.
      setFilter('all');
      release();
      if (isWhole) fetchOnce(callId);
      return false;
    }
    if (!list) return false;
    // Where the call is in the list of that moment: the list becomes that of its conversation.
    focusCard(scroller.current, id, () => {
      const { ids: now, list: current } = shown.current;
      current?.scrollToIndex(now.indexOf(id), { align: 'nearest' });
    });
    return true;
  };
  useReveal(goTo);
  const reveal = useRevealCall();
  const move = (by: number) => {
    const next =
      ids[focusedIndex < 0 ? 0 : Math.min(ids.length - 1, Math.max(0, focusedIndex + by))];
    if (next !== undefined) goTo(next);
  };
  useCardKeys({ move, actions });
  const toTop = useCallback(() => {
    release();
    scroller.current?.scrollTo({ top: 0 });
  }, [release]);

  return (
    <section aria-labelledby={titleId} className="flex h-full min-h-0 flex-col">
      <LiveHeader
        titleId={titleId}
        total={feed.total}
        active={feed.active}
        isPart={feed.isPart}
        filter={feed.filter}
        onFilter={(filter) => {
          setFilter(filter);
          scroller.current?.scrollTo({ top: 0 });
        }}
        hasRun={runId !== undefined}
        isPaused={feed.isPaused}
        onPause={feed.setPaused}
      />
      {isStale && isKnown && <p className="px-4 pb-2 text-xs text-wait">{t('stale')}</p>}
      <div className="relative min-h-0 flex-1">
        <FreshCalls
          fresh={feed.fresh}
          asking={feed.asking}
          onShow={(callId) => (callId === undefined ? toTop() : reveal(callId))}
        />
        <div
          ref={scroller}
          data-held={isOver ? '' : undefined}
          className="h-full overflow-y-auto [overflow-anchor:none]"
        >
          {ids.length === 0 ? (
            <Nothing
              isKnown={isWhole}
              hasCalls={feed.total > 0}
              onClear={() => feed.setFilter('all')}
            />
          ) : (
            <CardList
              ids={ids}
              handle={setList}
              scroller={scroller}
              onScroll={feed.onScroll}
              focusedIndex={focusedIndex}
              isStale={isStale}
              actions={actions}
            />
          )}
          {runId !== undefined && <OlderCalls runId={runId} />}
        </div>
      </div>
      <ApprovalVoice />
      {dialog}
    </section>
  );
}

interface NothingProps {
  isKnown: boolean;
  hasCalls: boolean;
  onClear: () => void;
}

function Nothing({ isKnown, hasCalls, onClear }: NothingProps) {
  const t = useTranslations('card.list');
  const common = useTranslations('common');
  const request = useTranslations('errors.request');
  const { storeFailed } = useConnection();
  if (hasCalls) {
    return (
      <p className="flex items-center gap-3 px-4 text-muted">
        {t('noMatch')}
        <Button size="sm" onClick={onClear}>
          {common('showAll')}
        </Button>
      </p>
    );
  }
  if (storeFailed) return <p className="px-4 text-muted">{request('store_failed')}</p>;
  return isKnown ? <LiveEmpty /> : <p className="px-4 text-muted">{t('loading')}</p>;
}

/** Below the calls of a conversation: whether there are older ones, fetched page by page. */
export function OlderCalls({ runId }: { runId: string }) {
  const t = useTranslations('card.list');
  const common = useTranslations('common');
  const formatFailure = useFormatFailure();
  const { older, calls } = useWorkbench();
  const isFed = useCallsKnown();
  const pages = useRunPages(runId);
  const isUnasked = isFed && pages === undefined;
  const load = () => void loadUnseen({ older, calls }, runId);
  useEffect(() => {
    if (isUnasked) void older.getState().loadPage(runId);
  }, [older, runId, isUnasked]);
  if (!pages || pages.cursor === null) return null;
  return (
    <div className="flex flex-wrap items-center gap-3 px-4 pb-3">
      {pages.state === 'failed' && (
        <p role="alert" className="text-error">
          {t('olderFailed', { reason: formatFailure(pages.failure) })}
        </p>
      )}
      {/* Not disabled while it loads: that would take the focus away from it. */}
      <Button size="sm" aria-disabled={pages.state === 'loading'} onClick={load}>
        {pages.state === 'failed'
          ? common('again')
          : t(pages.state === 'loading' ? 'olderLoading' : 'older')}
      </Button>
    </div>
  );
}

/** The newest pages may hold calls of the feed alone: goes on to one that brings another call. */
async function loadUnseen({ older, calls }: Pick<Workbench, 'older' | 'calls'>, runId: string) {
  const unseen = () =>
    older.getState().order.filter((id) => !Object.hasOwn(calls.getState().byId, id)).length;
  const before = unseen();
  do {
    await older.getState().loadPage(runId);
    const page = older.getState().pages[runId];
    if (page?.state !== 'ready' || page.cursor === null) return;
  } while (unseen() === before);
}

interface FreshCallsProps {
  /** How many came since the list was held. */
  fresh: number;
  /** Ids of calls that wait for a decision out of sight, oldest first. */
  asking: readonly string[];
  /** Shows the newest calls, or one that is asked about. */
  onShow: (callId: string | undefined) => void;
}

/** Over a list that stays as it is: what came meanwhile, and the decisions that wait (CD12, CD26). */
export function FreshCalls({ fresh, asking, onShow }: FreshCallsProps) {
  const t = useTranslations('card.list');
  if (fresh === 0 && asking.length === 0) return null;
  const isAsking = asking.length > 0;
  return (
    <Button
      variant="primary"
      size="sm"
      onClick={() => onShow(asking[0])}
      className={`absolute left-1/2 top-1 z-10 -translate-x-1/2 rounded-full shadow ${isAsking ? 'border-attn! bg-attn! text-attnfg!' : ''}`}
      data-testid="fresh-calls"
    >
      {!isAsking && t('fresh', { count: fresh })}
      {isAsking && fresh <= asking.length && t('asking', { count: asking.length })}
      {isAsking && fresh > asking.length && t('freshAsking', { fresh, asking: asking.length })}
    </Button>
  );
}

/** A first call to try from a terminal, on a tool that needs no network where there is one. */
const SAMPLES: readonly { tool: string; args: Record<string, unknown> }[] = [
  { tool: 'calculation.eval', args: { expression: '6 * 7' } },
  { tool: 'device.info', args: {} },
];

/** What to do when there is no call yet. */
function LiveEmpty() {
  const t = useTranslations('card');
  const common = useTranslations('common');
  const tools = useTools();
  const known = SAMPLES.find((one) => tools.some((tool) => tool.name === one.tool));
  const sample = known ?? { tool: tools[0]?.name ?? 'calculation.eval', args: {} };
  const command = curlCommand({
    origin: typeof window === 'undefined' ? '' : window.location.origin,
    tool: sample.tool,
    runId: 'run_first',
    args: sample.args,
  });
  const copy = async () => {
    if (await copyText(command)) showToast(common('copied'));
    else showErrorToast(common('notCopied'));
  };
  return (
    <div className="mx-4 rounded-lg border border-dashed border-linestrong p-4">
      <h3 className="font-semibold">{t('list.empty')}</h3>
      <p className="mt-1 text-muted">{t('list.emptyText')}</p>
      <div className="mt-2 flex items-start gap-1 rounded-md bg-surface2">
        <ScrollRegion label={t('list.copy')} className="min-w-0 flex-1">
          <pre className="mono p-2">{command}</pre>
        </ScrollRegion>
        <IconButton label={t('list.copy')} onClick={() => void copy()}>
          <Copy aria-hidden className="size-4" />
        </IconButton>
      </div>
    </div>
  );
}
