import { useHasMessages, useMessages, useRun } from './workbench-context.tsx';

/** Whether it is known that nothing was said in a run: an outside agent made calls in it. */
export function useIsOutsideRun(runId: string | null): boolean {
  const run = useRun(runId);
  const isKnown = useHasMessages(runId);
  const messages = useMessages(runId);
  return run?.model === null && isKnown && messages.length === 0;
}
