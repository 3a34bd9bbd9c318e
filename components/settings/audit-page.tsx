'use client';

import { useTranslations } from 'next-intl';
import { parseAsString, parseAsStringLiteral, useQueryStates } from 'nuqs';
import { useCallback, useId, useMemo } from 'react';
import type { WireAuditEntry } from '#lib/protocol/audit';
import { AUDITED_ACTS } from '#lib/protocol/audited-acts';
import { given } from '#lib/util/given';
import { AuditEntry } from './audit-entry.tsx';
import { AuditFilterForm } from './audit-filter-form.tsx';
import type { AuditFilter } from './export-audit.ts';
import { ExportButton } from './export-button.tsx';
import { ForAdmins } from './for-admins.tsx';
import { MoreButton } from './more-button.tsx';
import { useAccessApi } from './use-access-api.ts';
import { type AskPage, usePages } from './use-pages.ts';

/** What people did. `?actor=&act=` filter it, so that it can be linked. */
export function AuditPage() {
  const t = useTranslations('settings.audit');
  return (
    <ForAdmins title={t('title')}>
      <p className="mb-4 text-muted">{t('text')}</p>
      <Entries />
    </ForAdmins>
  );
}

const FILTERS = { actor: parseAsString, act: parseAsStringLiteral(AUDITED_ACTS) };
const LIST = { role: 'list' };

function Entries() {
  const t = useTranslations('settings.audit');
  const api = useAccessApi();
  const titleId = useId();
  const [{ actor, act }, setFilter] = useQueryStates(FILTERS);
  const filter = useMemo<AuditFilter>(
    () => given({ actor: actor ?? undefined, act: act ?? undefined }),
    [actor, act],
  );
  const ask = useCallback<AskPage<WireAuditEntry, number>>(
    async (cursor) => {
      const answer = await api.listAudit({ ...filter, ...given({ cursor }) });
      if (!answer.ok) return answer;
      const { entries, next_cursor } = answer.value;
      return { ok: true, value: { items: entries, next: next_cursor } };
    },
    [api, filter],
  );
  const pages = usePages(ask);
  return (
    <>
      <AuditFilterForm
        filter={filter}
        onFilter={(next) => void setFilter({ actor: next.actor ?? null, act: next.act ?? null })}
      />
      <ExportButton filter={filter} />
      <section aria-labelledby={titleId} className="mt-4">
        <h2 id={titleId} className="text-base font-bold">
          {t('list')}
        </h2>
        <ol className="mt-2 divide-y divide-line" {...LIST}>
          {pages.items?.map((entry) => (
            <AuditEntry key={entry.seq} entry={entry} />
          ))}
        </ol>
        <MoreButton pages={pages} />
      </section>
    </>
  );
}
