'use client';

import { useTranslations } from 'next-intl';
import { useEffect, useState } from 'react';
import { SavedBytes } from '#components/result/saved-bytes';
import { Button } from '#components/ui/button';
import type { ApiFailure } from '#lib/api/api-result';
import { sendRequest } from '#lib/api/send-request';
import { useFormatFailure } from '../failure/format-failure.ts';
import { pageFetch } from '../providers/page-session.ts';
import { type ApiGroup, readDocument } from './api-document.ts';
import { OperationView } from './operation-view.tsx';

/** The API reference: the contents of `/openapi.json`, for people. */
export function ApiReference() {
  const t = useTranslations('docs');
  const common = useTranslations('common');
  const formatFailure = useFormatFailure();
  const { state, again } = useApiDocument();
  return (
    <article className="mx-auto w-full max-w-4xl px-4 py-6">
      <h1 className="font-semibold text-2xl">{t('title')}</h1>
      <p className="mt-2 text-muted">
        {t.rich('intro', {
          link: (address) => (
            <SavedBytes path="/openapi.json" name="openapi.json" className="underline">
              {address}
            </SavedBytes>
          ),
        })}
      </p>
      <p className="mt-1 text-muted">{t('credential')}</p>
      {state.status === 'loading' && <p role="status">{t('loading')}</p>}
      {state.status === 'failed' && (
        <div role="alert" className="mt-4 flex flex-wrap items-center gap-3 text-error">
          <p>{t('failed', { reason: formatFailure(state.failure) })}</p>
          <Button onClick={again}>{common('again')}</Button>
        </div>
      )}
      {state.status === 'ready' && (
        <>
          <nav aria-label={t('contents')} className="mt-4">
            <ul className="flex flex-wrap gap-2">
              {state.groups.map(({ name }) => (
                <li key={name}>
                  <a className="btn btn-sm" href={`#${groupAnchor(name)}`}>
                    {name}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          {state.groups.map((group) => (
            <GroupSection key={group.name} group={group} />
          ))}
        </>
      )}
    </article>
  );
}

const groupAnchor = (name: string): string => name.replaceAll(' ', '-');

/** Operations of one kind. */
function GroupSection({ group }: { group: ApiGroup }) {
  const id = groupAnchor(group.name);
  return (
    <section aria-labelledby={id} className="mt-8">
      <h2 id={id} className="scroll-mt-4 font-semibold text-xl capitalize">
        {group.name}
      </h2>
      {group.operations.map((operation) => (
        <OperationView key={operation.id} operation={operation} />
      ))}
    </section>
  );
}

type ApiDocumentState =
  | { readonly status: 'loading' }
  | { readonly status: 'failed'; readonly failure: ApiFailure }
  | { readonly status: 'ready'; readonly groups: readonly ApiGroup[] };

/** The server's description of itself, read as the person who is signed in. */
function useApiDocument(): { readonly state: ApiDocumentState; again(): void } {
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
