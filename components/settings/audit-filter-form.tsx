'use client';

import { useTranslations } from 'next-intl';
import { type FormEvent, useEffect, useRef } from 'react';
import { AUDITED_ACTS } from '#lib/protocol/audited-acts';
import { Button } from '../ui/button.tsx';
import { Select } from '../ui/select.tsx';
import type { AuditFilter } from './export-audit.ts';

export interface AuditFilterFormProps {
  filter: AuditFilter;
  onFilter: (filter: AuditFilter) => void;
}

/** By who and what. The name is as it stands in the entries, since a part of it could be another one's. */
export function AuditFilterForm({ filter, onFilter }: AuditFilterFormProps) {
  const t = useTranslations('settings.audit');
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
          {t('clear')}
        </Button>
      )}
    </form>
  );
}
