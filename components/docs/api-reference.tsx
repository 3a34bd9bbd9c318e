'use client';

import { useTranslations } from 'next-intl';
import { SavedBytes } from '#components/result/saved-bytes';
import { Button } from '#components/ui/button';
import { useFormatFailure } from '../failure/format-failure.ts';
import { GroupSection, groupAnchor } from './group-section.tsx';
import { useApiDocument } from './use-api-document.ts';

/** The API reference: the contents of `/openapi.json`, for people. */
export function ApiReference() {
  const t = useTranslations('docs');
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
          <Button onClick={again}>{t('again')}</Button>
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
