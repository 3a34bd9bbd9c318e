'use client';

import { ChevronDown, Plus } from 'lucide-react';
import { useLocale, useTranslations } from 'next-intl';
import { useState } from 'react';
import { formatRelativeTime } from '#lib/format/amounts';
import type { RunSummary } from '#lib/protocol/run';
import { useFailureToast } from '../failure/format-failure.ts';
import { useApi, useIsViewer, useRuns, useUi } from '../providers/workbench-context.tsx';
import { Button } from '../ui/button.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { Menu, MenuItem, MenuLabel, MenuSeparator } from '../ui/menu.tsx';
import { serverNow } from '../ui/server-clock.ts';

export interface RunSwitcherProps {
  selected: string | null;
  onSelect: (runId: string | null) => void;
}

/** A new conversation, which a viewer cannot have, or one of the recent ones. */
export function RunSwitcher({ selected, onSelect }: RunSwitcherProps) {
  const t = useTranslations('conversation');
  const wantMessage = useUi((state) => state.wantMessage);
  const isViewer = useIsViewer();
  const startNew = () => {
    onSelect(null);
    wantMessage();
  };
  return (
    <div className="flex items-center gap-2">
      <RunMenu selected={selected} onSelect={onSelect} />
      {selected !== null && !isViewer && (
        <Button size="sm" onClick={startNew}>
          <Plus aria-hidden className="size-4" />
          {t('new')}
        </Button>
      )}
    </div>
  );
}

function RunMenu({ selected, onSelect }: RunSwitcherProps) {
  const t = useTranslations('conversation');
  const common = useTranslations('common');
  const isViewer = useIsViewer();
  const live = useRuns();
  const { older, more } = useOlderRuns();
  const known = new Set(live.map((run) => run.run_id));
  const runs = [...live, ...older.filter((run) => !known.has(run.run_id))];
  return (
    <Menu
      label={t('runs')}
      trigger={
        <Button size="sm">
          {t('runs')}
          <ChevronDown aria-hidden className="size-4" />
        </Button>
      }
    >
      <MenuItem onSelect={() => onSelect(null)}>
        {!isViewer && <Plus aria-hidden className="size-4" />}
        {t(isViewer ? 'none' : 'new')}
      </MenuItem>
      <MenuSeparator />
      <MenuLabel>{runs.length > 0 ? t('recent') : t('noRuns')}</MenuLabel>
      {runs.map((run) => (
        <MenuItem key={run.run_id} onSelect={() => onSelect(run.run_id)}>
          <RunLine run={run} selected={run.run_id === selected} />
        </MenuItem>
      ))}
      {more && <MenuItem onSelect={more}>{common('showMore')}</MenuItem>}
    </Menu>
  );
}

function RunLine({ run, selected }: { run: RunSummary; selected: boolean }) {
  const t = useTranslations('conversation');
  const locale = useLocale();
  return (
    <>
      <span className={`min-w-0 flex-1 truncate ${selected ? 'font-bold' : ''}`}>
        <MarkedText text={run.title || t('untitled')} />
      </span>
      <span
        className={`shrink-0 text-xs ${run.status === 'running' ? 'text-doing' : 'text-muted'}`}
      >
        {run.status === 'running'
          ? t('running')
          : formatRelativeTime(run.updated_at * 1_000, serverNow(), locale)}
      </span>
    </>
  );
}

/** Runs beyond the recent ones of the feed, page by page; `more` is absent after the last page. */
function useOlderRuns(): { older: readonly RunSummary[]; more?: () => void } {
  const api = useApi();
  const t = useTranslations('conversation');
  const showFailure = useFailureToast();
  const [older, setOlder] = useState<readonly RunSummary[]>([]);
  const [cursor, setCursor] = useState<string | null | undefined>(undefined);
  const load = async () => {
    const answer = await api.listRuns(cursor ?? undefined);
    if (!answer.ok) return showFailure(t('olderFailed'), answer);
    setOlder((before) => [...before, ...answer.value.runs]);
    setCursor(answer.value.next_cursor);
  };
  return cursor === null ? { older } : { older, more: () => void load() };
}
