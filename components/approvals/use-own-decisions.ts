'use client';

import { useMemo, useState } from 'react';
import { keyOf } from '#lib/stores/questions-of';
import { useWorkbench } from '../providers/workbench-context.tsx';
import type { CardActions } from '../tool-call/card-actions.ts';

/** Of the newest decisions. */
const MOST = 50;

/** The keys of questions that were decided on this page, and actions that note them. */
export function useOwnDecisions(actions: CardActions) {
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
