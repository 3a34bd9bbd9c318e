'use client';

import { useStore } from 'zustand';
import { useShallow } from 'zustand/react/shallow';
import type { Card } from '#lib/protocol/card';
import { useWorkbench } from '../providers/workbench-context.tsx';

/** The calls that are the same as this one, where others wait for the same decision. */
export interface SameQuestion {
  /** The one that has the decision. */
  readonly first: string | undefined;
  readonly count: number;
}

/** Of a card that waits for a decision. */
export function useQuestion(card: Card | undefined): SameQuestion {
  const key = card?.phase === 'approval' ? card.approval_key : undefined;
  return useStore(
    useWorkbench().listings,
    useShallow(({ approvals }) => {
      const same = key === undefined ? [] : approvals.filter((one) => one.key === key);
      return { first: same[0]?.tool_call_id, count: same.length };
    }),
  );
}
