'use client';

import { useStore } from 'zustand';
import { useApprovals, useWorkbench } from '../providers/workbench-context.tsx';

/** Whether a call of the run, or of a sub-agent below it, waits for a person. */
export function useWaitsForPerson(runId: string): boolean {
  const asking = useApprovals();
  return useStore(useWorkbench().runs, ({ runs }) =>
    asking.some(({ run_id }) => {
      // As deep as sub-agents go, and no further where ids run in a circle.
      let above: string | undefined = run_id;
      for (let depth = 0; above !== undefined && above !== runId && depth < DEEPEST; depth += 1) {
        above = Object.hasOwn(runs, above) ? runs[above]?.parent?.run_id : undefined;
      }
      return above === runId;
    }),
  );
}

const DEEPEST = 4;
