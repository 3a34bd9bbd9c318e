'use client';

import { useTranslations } from 'next-intl';
import { useMemo, useState } from 'react';
import { ALLOWED_TOOL, allowsTool, MOST_ALLOWED } from '#lib/protocol/token-names';
import { useTools } from '../providers/workbench-context.tsx';
import { ScrollRegion } from '../result/scroll-region.tsx';
import { MarkedText } from '../ui/marked-text.tsx';

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

/** One line of the list that an allow-list is chosen from. */
interface AllowOption {
  /** A tool's name, or a family: `file.*`. */
  readonly entry: string;
  /** How many of the tools that are there it lets be called. */
  readonly tools: number;
  readonly isChosen: boolean;
  /** The chosen family that allows it already. */
  readonly family: string | null;
}

/** `a.b.c` is of the families `a.*` and `a.b.*`. */
const familiesOf = (name: string): string[] => {
  const parts = name.split('.');
  return parts.slice(1).map((_, at) => `${parts.slice(0, at + 1).join('.')}.*`);
};

/** Families with more than one tool, in the order of their names. */
function families(names: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const family of names.flatMap(familiesOf)) {
    counts.set(family, (counts.get(family) ?? 0) + 1);
  }
  return [...counts].flatMap(([family, count]) => (count > 1 ? [family] : [])).sort();
}

/**
 * What can be chosen: what is chosen and not there now, families, tools that are there, and what was
 * searched for, when it can be a tool. No line moves when it is chosen.
 */
export function allowOptions(
  names: readonly string[],
  chosen: readonly string[],
  search: string,
): AllowOption[] {
  const wanted = search.trim();
  const typed = ALLOWED_TOOL.test(wanted) ? [wanted] : [];
  const known = [...families(names), ...[...names].sort()];
  const absent = chosen.filter((entry) => entry !== wanted && !known.includes(entry));
  const all = [...absent, ...known, ...typed];
  const fits = (entry: string) => entry.toLowerCase().includes(wanted.toLowerCase());
  return [...new Set(all)].filter(fits).map((entry) => ({
    entry,
    tools: names.filter((name) => allowsTool(entry, name)).length,
    isChosen: chosen.includes(entry),
    family:
      chosen.find((one) => one !== entry && one.endsWith('.*') && allowsTool(one, entry)) ?? null,
  }));
}
