'use client';

import { useSearchParams } from 'next/navigation';
import { useSyncExternalStore } from 'react';

const NAME = 'run';
const listeners = new Set<() => void>();

/** The conversation that is shown, kept in the address; null for a new one. */
export function useSelectedRun(): [string | null, (runId: string | null) => void] {
  // The router tells of its own navigations before they are in the address, and of those of others
  // after; without a router the address alone says what is shown.
  const params = useSearchParams();
  const inAddress = useSyncExternalStore(subscribe, read, () => null);
  return [params ? params.get(NAME) : inAddress, select];
}

const read = (): string | null => new URLSearchParams(location.search).get(NAME);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function select(runId: string | null): void {
  if (runId === read()) return;
  const url = new URL(location.href);
  if (runId === null) url.searchParams.delete(NAME);
  else url.searchParams.set(NAME, runId);
  history.pushState(null, '', url);
  for (const listener of [...listeners]) listener();
}
