'use client';

import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { parseAsString, parseAsStringLiteral, useQueryStates } from 'nuqs';
import { type FormEvent, useCallback, useEffect, useId, useMemo, useRef, useState } from 'react';
import { pathOfCall } from '#lib/call/call-address';
import type { WireAuditEntry } from '#lib/protocol/audit';
import { AUDITED_ACTS } from '#lib/protocol/audited-acts';
import { given } from '#lib/util/given';
import { useFailureToast } from '../failure/format-failure.ts';
import { useAnnounce } from '../providers/workbench-context.tsx';
import { saveFile } from '../result/save-file.ts';
import { Button } from '../ui/button.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { Select } from '../ui/select.tsx';
import { type AuditFilter, exportAudit } from './export-audit.ts';
import { ForAdmins } from './for-admins.tsx';
import { MoreButton } from './more-button.tsx';
import { useAccessApi } from './use-access-api.ts';
import { useFormatTime } from './use-format-time.ts';
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

/** What one person did once, to what, and from where. */
function AuditEntry({ entry }: { entry: WireAuditEntry }) {
  const t = useTranslations('settings.audit');
  const formatTime = useFormatTime('medium');
  const { act, target, actor, token_id, address, detail, at } = entry;
  const details = JSON.stringify(detail);
  return (
    <li data-testid="audit-entry" data-act={act} className="py-2 wrap-anywhere">
      <p>
        <span className="font-semibold">{t(`acts.${act}`)}</span>{' '}
        {target !== null && (
          <span className="mono">
            <AuditTarget target={target} />
          </span>
        )}
      </p>
      {details !== '{}' && (
        <p className="mono">
          <MarkedText text={details} />
        </p>
      )}
      <p className="text-[13px] text-muted">
        <time dateTime={new Date(at * 1_000).toISOString()}>{formatTime(at)}</time>
        {' · '}
        <span className="mono">
          <MarkedText text={actor} />
        </span>
        {' · '}
        {token_id ?? t('firstToken')}
        {' · '}
        <MarkedText text={address} />
      </p>
    </li>
  );
}

/** What an act was done to: a call and a conversation can be opened. */
function AuditTarget({ target }: { target: string }) {
  const name = <MarkedText text={target} />;
  const href = pageOf(target);
  return href === undefined ? (
    name
  ) : (
    <Link href={href} className="underline underline-offset-2">
      {name}
    </Link>
  );
}

function pageOf(target: string): string | undefined {
  if (target.startsWith('tc_')) return pathOfCall(target);
  return target.startsWith('run_') ? `/?run=${encodeURIComponent(target)}` : undefined;
}

const wait = (seconds: number) =>
  new Promise<void>((resolve) => setTimeout(resolve, seconds * 1_000));

const fileName = (): string => `callboard-audit-${new Date().toISOString().slice(0, 10)}.jsonl`;

/** Saves all that the filter gives as a file; pressed again meanwhile it ends that. */
function ExportButton({ filter }: { filter: AuditFilter }) {
  const t = useTranslations('settings.audit');
  const { listAudit } = useAccessApi();
  const announce = useAnnounce();
  const showFailure = useFailureToast();
  const [entries, setEntries] = useState<number | null>(null);
  const going = useRef<AbortController | null>(null);
  useEffect(() => () => going.current?.abort(), []);
  const start = async () => {
    const controller = new AbortController();
    going.current = controller;
    setEntries(0);
    const { signal } = controller;
    const deps = { listAudit, onProgress: setEntries, signal, wait };
    const exported = await exportAudit(filter, deps);
    if (going.current !== controller) return;
    going.current = null;
    setEntries(null);
    if (exported.kind === 'failed') showFailure(t('exportFailed'), exported.failure);
    if (exported.kind !== 'done') return;
    saveFile(exported.file, fileName());
    announce(t('exported'));
  };
  const stop = () => {
    going.current?.abort();
    going.current = null;
    setEntries(null);
  };
  return (
    <p className="mt-3 flex flex-wrap items-center gap-2">
      <Button size="sm" onClick={() => (entries === null ? void start() : stop())}>
        {t(entries === null ? 'export' : 'stopExport')}
      </Button>
      <span className="text-[13px] text-muted">
        {entries === null ? t('exportText') : t('exporting', { count: entries })}
      </span>
    </p>
  );
}

interface AuditFilterFormProps {
  filter: AuditFilter;
  onFilter: (filter: AuditFilter) => void;
}

/** By who and what. The name is as it stands in the entries, since a part of it could be another one's. */
function AuditFilterForm({ filter, onFilter }: AuditFilterFormProps) {
  const t = useTranslations('settings.audit');
  const common = useTranslations('common');
  const field = useRef<HTMLInputElement>(null);
  const { actor: shown = '' } = filter;
  useEffect(() => {
    if (field.current) field.current.value = shown;
  }, [shown]);
  const isFiltered = filter.actor !== undefined || filter.act !== undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { actor: _, ...rest } = filter;
    const actor = field.current?.value.trim() ?? '';
    onFilter(actor === '' ? rest : { ...rest, actor });
  };
  const setAct = (value: string) => {
    const { act: _, ...rest } = filter;
    const act = AUDITED_ACTS.find((one) => one === value);
    onFilter(act === undefined ? rest : { ...rest, act });
  };
  return (
    <form onSubmit={submit} className="flex flex-wrap items-end gap-2">
      <label className="min-w-0 flex-1 basis-40 sm:max-w-64">
        <span className="block text-xs font-medium">{t('actor')}</span>
        <input
          ref={field}
          maxLength={128}
          placeholder="operator:name"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          className="field mono w-full"
        />
      </label>
      <Select
        label={t('act')}
        value={filter.act ?? ''}
        onValueChange={setAct}
        options={[
          { value: '', label: t('allActs') },
          ...AUDITED_ACTS.map((value) => ({ value, label: t(`acts.${value}`) })),
        ]}
      />
      <Button type="submit">{t('filter')}</Button>
      {isFiltered && (
        <Button
          variant="ghost"
          onClick={() => {
            onFilter({});
            // The button that had the focus is not there any more.
            field.current?.focus();
          }}
        >
          {common('showAll')}
        </Button>
      )}
    </form>
  );
}
