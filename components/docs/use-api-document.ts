'use client';

import { useEffect, useState } from 'react';
import { sendRequest } from '#lib/api/send-request';
import { type ApiGroup, readDocument } from './api-document.ts';

export type ApiDocumentState =
  | { readonly status: 'loading' }
  | { readonly status: 'failed'; readonly reason: string }
  | { readonly status: 'ready'; readonly groups: readonly ApiGroup[] };

/** The server's description of itself, read with the sign-in cookie. */
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

async function load(signal: AbortSignal, tell: (state: ApiDocumentState) => void): Promise<void> {
  const deps = { fetch: window.fetch.bind(window), baseUrl: '' };
  const result = await sendRequest<unknown>(deps, { method: 'GET', path: '/openapi.json', signal });
  // The page is gone, and with it whoever wanted to know.
  if (signal.aborted) return;
  tell(
    result.ok
      ? { status: 'ready', groups: readDocument(result.value) }
      : { status: 'failed', reason: result.message },
  );
}
