'use client';

import { useTranslations } from 'next-intl';
import { useMemo, useState } from 'react';
import { MOST_ALLOWED } from '#lib/protocol/token-names';
import { useTools } from '../providers/workbench-context.tsx';
import { ScrollRegion } from '../result/scroll-region.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { type AllowOption, allowOptions } from './allow-options.ts';

/** Lines of the list; of more, one searches. */
const MOST_SHOWN = 100;

export interface AllowListProps {
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
}

/** The tools that a program may call: of those that are there, by families, or by name for later. */
export function AllowList({ chosen, onChange }: AllowListProps) {
  const t = useTranslations('settings.access.allow');
  const tools = useTools();
  const [search, setSearch] = useState('');
  const names = useMemo(() => tools.map(({ name }) => name), [tools]);
  const options = useMemo(() => allowOptions(names, chosen, search), [names, chosen, search]);
  const isFull = chosen.length >= MOST_ALLOWED;
  const toggle = (entry: string, isOn: boolean) =>
    onChange(isOn ? [...chosen, entry] : chosen.filter((one) => one !== entry));
  return (
    <fieldset className="min-w-0 border-0">
      <legend className="font-medium">{t('legend')}</legend>
      <p className="text-xs text-muted">{t('hint')}</p>
      <input
        type="search"
        aria-label={t('search')}
        placeholder={t('search')}
        value={search}
        onChange={(event) => setSearch(event.target.value)}
        // Enter would send the form.
        onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
        className="field mt-1 w-full max-w-sm"
      />
      <ScrollRegion
        label={t('legend')}
        className="mt-1 max-h-60 rounded-md border border-line bg-bg p-1"
      >
        {options.slice(0, MOST_SHOWN).map((option) => (
          <Option
            key={option.entry}
            option={option}
            isFull={isFull}
            onToggle={(isOn) => toggle(option.entry, isOn)}
          />
        ))}
        {options.length === 0 && <p className="px-1 text-muted">{t('none')}</p>}
      </ScrollRegion>
      <p role="status" className="mt-1 text-xs text-muted">
        {t('chosen', { count: chosen.length })}
        {options.length > MOST_SHOWN && ` ${t('left', { count: options.length - MOST_SHOWN })}`}
        {isFull && ` ${t('full', { most: MOST_ALLOWED })}`}
      </p>
    </fieldset>
  );
}

interface OptionProps {
  option: AllowOption;
  isFull: boolean;
  onToggle: (isOn: boolean) => void;
}

function Option({ option: { entry, tools, isChosen, family }, isFull, onToggle }: OptionProps) {
  const t = useTranslations('settings.access.allow');
  const isFamily = entry.endsWith('.*');
  const note =
    family !== null
      ? t('in', { family })
      : tools === 0
        ? t('notThere')
        : isFamily
          ? t('family', { count: tools })
          : '';
  return (
    <label className="flex min-h-7 items-center gap-2 rounded px-1 hover:bg-surface2 pointer-coarse:min-h-11">
      <input
        type="checkbox"
        checked={isChosen || family !== null}
        disabled={family !== null || (isFull && !isChosen)}
        onChange={(event) => onToggle(event.target.checked)}
        className="size-4 shrink-0 accent-accent"
      />
      <span className="min-w-0 wrap-anywhere">
        <span className="mono">
          <MarkedText text={entry} />
        </span>{' '}
        <span className="text-xs text-muted">{note}</span>
      </span>
    </label>
  );
}
