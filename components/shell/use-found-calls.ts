'use client';

import { useEffect, useState } from 'react';
import type { ApiFailure } from '#lib/api/api-result';
import type { ListedCall } from '#lib/protocol/call-record';
import { useApi } from '../providers/workbench-context.tsx';

/** Typing that goes on asks nothing. */
const PAUSE_MS = 250;
/** The server takes no more of them. */
const MOST_WORDS = 8;
const LEAST_CHARS = 2;
const MOST_CALLS = 8;

export type FoundCalls =
  | { readonly state: 'none' }
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly failure: ApiFailure }
  | { readonly state: 'ready'; readonly calls: readonly ListedCall[] };

const NONE: FoundCalls = { state: 'none' };
const LOADING: FoundCalls = { state: 'loading' };

/** The newest calls whose arguments, result or error have all the words: asked once typing rests. */
export function useFoundCalls(typed: string): FoundCalls {
  const api = useApi();
  const words = typed.trim().split(/\s+/u).slice(0, MOST_WORDS).join(' ');
  const [found, setFound] = useState<{ words: string; calls: FoundCalls } | null>(null);
  const isAsked = words.length >= LEAST_CHARS;
  useEffect(() => {
    if (!isAsked) return;
    let isWanted = true;
    const ask = async () => {
      const path = `/v1/tool_calls?q=${encodeURIComponent(words)}&limit=${MOST_CALLS}`;
      const answer = await api.request<{ tool_calls: ListedCall[] }>({ method: 'GET', path });
      if (!isWanted) return;
      const calls: FoundCalls = answer.ok
        ? { state: 'ready', calls: answer.value.tool_calls }
        : { state: 'failed', failure: answer };
      setFound({ words, calls });
    };
    const timer = setTimeout(() => void ask(), PAUSE_MS);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [api, words, isAsked]);
  if (!isAsked) return NONE;
  return found?.words === words ? found.calls : LOADING;
}
