'use client';

import { useSearchParams } from 'next/navigation';
import { useSyncExternalStore } from 'react';

const NAME = 'run';
const listeners = new Set<() => void>();

/** The conversation that is shown, kept in the address; null for a new one. */
export function useSelectedRun(): [string | null, (runId: string | null) => void] {
  // A navigation of the router draws this anew; the address itself says what is shown.
  const params = useSearchParams();
  const runId = useSyncExternalStore(subscribe, read, () => params?.get(NAME) ?? null);
  return [runId, select];
}

const read = (): string | null => new URLSearchParams(location.search).get(NAME);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener('popstate', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('popstate', listener);
  };
}

function select(runId: string | null): void {
  if (runId === read()) return;
  const url = new URL(location.href);
  if (runId === null) url.searchParams.delete(NAME);
  else url.searchParams.set(NAME, runId);
  history.pushState(null, '', url);
  for (const listener of [...listeners]) listener();
}
