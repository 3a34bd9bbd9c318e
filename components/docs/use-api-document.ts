'use client';

import { useEffect, useState } from 'react';
import type { ApiFailure } from '#lib/api/api-result';
import { sendRequest } from '#lib/api/send-request';
import { pageFetch } from '../providers/page-session.ts';
import { type ApiGroup, readDocument } from './api-document.ts';

export type ApiDocumentState =
  | { readonly status: 'loading' }
  | { readonly status: 'failed'; readonly failure: ApiFailure }
  | { readonly status: 'ready'; readonly groups: readonly ApiGroup[] };

/** The server's description of itself, read as the person who is signed in. */
export function useApiDocument(): { readonly state: ApiDocumentState; again(): void } {
  const [state, setState] = useState<ApiDocumentState>({ status: 'loading' });

  useEffect(() => {
    const controller = new AbortController();
    void load(controller.signal, setState);
    return () => controller.abort();
  }, []);

  return {
    state,
    again() {
      setState({ status: 'loading' });
      void load(new AbortController().signal, setState);
    },
  };
}

async function load(
  signal: AbortSignal,
  setState: (state: ApiDocumentState) => void,
): Promise<void> {
  const deps = { fetch: pageFetch, baseUrl: '' };
  const result = await sendRequest<unknown>(deps, { method: 'GET', path: '/openapi.json', signal });
  // The page was closed, and with it the reader of the state.
  if (signal.aborted) return;
  setState(
    result.ok
      ? { status: 'ready', groups: readDocument(result.value) }
      : { status: 'failed', failure: result },
  );
}
