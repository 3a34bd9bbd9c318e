'use client';

import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { ApprovalListing } from '#lib/protocol/watch-messages';
import { useIsOutsideRun } from '../providers/use-is-outside-run.ts';
import {
  useApprovals,
  useCalls,
  useOlderCalls,
  useWorkbench,
} from '../providers/workbench-context.tsx';
import { countActive, createFeedSelector, type FeedFilter, listedFor } from './feed.ts';

/** Pixels from the top within which the list follows what comes. */
const AT_TOP_PX = 40;

/** Calls that wait for a decision and are not in the list, oldest first. */
function useAsking(ids: readonly string[]): readonly string[] {
  const { calls } = useWorkbench();
  const approvals = useApprovals();
  return useMemo(() => {
    if (approvals.length === 0) return NONE;
    const state = calls.getState();
    return approvals
      .map((one) => one.tool_call_id)
      .filter((id) => !ids.includes(listedFor(id, ids, state, state)));
  }, [approvals, ids, calls]);
}

const NONE: readonly string[] = [];

/** Those of the conversation that is open; the same array for as long as they are the same. */
function useWaiting(runId: string | undefined): readonly string[] {
  const approvals = useApprovals();
  return useMemo(() => waitingOf(approvals, runId), [approvals, runId]);
}

function waitingOf(
  approvals: readonly ApprovalListing[],
  runId: string | undefined,
): readonly string[] {
  const own = approvals.filter((one) => runId !== undefined && one.run_id === runId);
  return own.length === 0 ? NONE : own.map((one) => one.tool_call_id);
}

/** As the list was when a person paused it or scrolled away. */
interface Held {
  readonly order: readonly string[];
  readonly pinned: readonly string[];
}

/** The state of a live list: what is shown, what waits, and why. */
export function useFeed(runId: string | undefined) {
  const { calls, listings } = useWorkbench();
  const [filter, setFilter] = useState<FeedFilter>('all');
  const [isPaused, setPaused] = useState(false);
  const [held, setHeld] = useState<Held | null>(null);
  const waiting = useWaiting(runId);
  const offset = useRef(0);
  const isOver = useRef(false);

  const olderById = useOlderCalls((state) => state.byId);
  const olderOrder = useOlderCalls((state) => state.order);
  const select = useMemo(() => {
    const older = { byId: olderById, order: olderOrder };
    const { order = null, pinned = waiting } = held ?? {};
    return createFeedSelector({ filter, runId, held: order, older, pinned });
  }, [filter, runId, held, olderById, olderOrder, waiting]);
  const { ids, fresh, total } = useCalls(select);
  const active = useCalls(countActive);
  const isPart = useCalls(({ leftOut = 0 }) => leftOut > 0);
  const asking = useAsking(ids);

  // It stays the same while calls begin to wait: what follows the pointer goes by it.
  const hold = useCallback(() => {
    const { order } = calls.getState();
    const pinned = waitingOf(listings.getState().approvals, runId);
    setHeld((before) => before ?? { order, pinned });
  }, [calls, listings, runId]);
  /** The list follows what comes only at its top, with no decision under the pointer or the focus. */
  const follow = useCallback(() => {
    if (offset.current > AT_TOP_PX || isOver.current) hold();
    else setHeld(null);
  }, [hold]);
  const isOutside = useIsOutsideRun(runId ?? null);
  const outsideRun = isOutside ? runId : undefined;
  // Nothing else is in such a conversation than its calls.
  useEffect(() => {
    if (outsideRun === undefined) return;
    setFilter('run');
    return () => setFilter((chosen) => (chosen === 'run' ? 'all' : chosen));
  }, [outsideRun]);
  const release = () => {
    setPaused(false);
    setHeld(null);
  };
  return {
    ids,
    fresh,
    total,
    active,
    isPart,
    asking,
    filter,
    // Another list is read from its top, and what was held back for the old one is in it.
    setFilter: (next: FeedFilter) => {
      setFilter(next);
      offset.current = 0;
      if (!isPaused) setHeld(null);
    },
    isPaused,
    release,
    setPaused: (paused: boolean) => {
      setPaused(paused);
      if (paused) hold();
      else follow();
    },
    onScroll: (to: number) => {
      offset.current = to;
      if (!isPaused) follow();
    },
    setOver: useCallback(
      (over: boolean) => {
        isOver.current = over;
        if (!isPaused) follow();
      },
      [isPaused, follow],
    ),
  };
}
