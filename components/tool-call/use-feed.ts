'use client';

import { useMemo, useRef, useState } from 'react';
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

/** The state of a live list: what is shown, what waits, and why. */
export function useFeed(runId: string | undefined) {
  const { calls } = useWorkbench();
  const [filter, setFilter] = useState<FeedFilter>('all');
  const [isPaused, setPaused] = useState(false);
  const [held, setHeld] = useState<readonly string[] | null>(null);
  const offset = useRef(0);

  const olderById = useOlderCalls((state) => state.byId);
  const olderOrder = useOlderCalls((state) => state.order);
  const select = useMemo(() => {
    const older = { byId: olderById, order: olderOrder };
    return createFeedSelector({ filter, runId, held, older });
  }, [filter, runId, held, olderById, olderOrder]);
  const { ids, fresh, total } = useCalls(select);
  const active = useCalls(countActive);
  const isPart = useCalls(({ leftOut = 0 }) => leftOut > 0);
  const asking = useAsking(ids);

  const hold = () => setHeld((before) => before ?? calls.getState().order);
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
      if (paused || offset.current > AT_TOP_PX) hold();
      else setHeld(null);
    },
    onScroll: (to: number) => {
      offset.current = to;
      if (isPaused) return;
      if (to > AT_TOP_PX) hold();
      else setHeld(null);
    },
  };
}
