'use client';

import { Pause, Play } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { Button } from '#components/ui/button';
import { Select } from '#components/ui/select';
import type { FeedFilter } from './feed.ts';

export interface LiveHeaderProps {
  titleId: string;
  total: number;
  active: number;
  /** Calls are left out of the feed, and some of these may be active as well. */
  isPart: boolean;
  filter: FeedFilter;
  onFilter: (filter: FeedFilter) => void;
  /** Whether there is a conversation whose calls can be picked out. */
  hasRun: boolean;
  isPaused: boolean;
  onPause: (paused: boolean) => void;
}

const FILTERS = ['all', 'active', 'waiting', 'failed', 'run'] as const;

/** Title, counts, pause and filter of the live list. */
export function LiveHeader(props: LiveHeaderProps) {
  const t = useTranslations('card.list');
  const names = {
    all: t('all'),
    active: t('activeOnly'),
    waiting: t('waitingOnly'),
    failed: t('failedOnly'),
    run: t('runOnly'),
  };
  const options = FILTERS.filter((one) => one !== 'run' || props.hasRun).map((value) => ({
    value,
    label: names[value],
  }));
  return (
    <div className="flex flex-wrap items-center gap-x-2 gap-y-1 px-4 pb-2 pt-3">
      <h2 id={props.titleId} className="text-base font-bold">
        {t('title')}
      </h2>
      <p className="flex-1 whitespace-nowrap text-muted" data-testid="live-counts">
        {t('calls', { count: props.total })} ·{' '}
        {t(props.isPart ? 'activeAtLeast' : 'active', { count: props.active })}
      </p>
      <div className="flex items-center gap-2">
        <Button
          size="sm"
          aria-pressed={props.isPaused}
          onClick={() => props.onPause(!props.isPaused)}
        >
          {props.isPaused ? (
            <Play aria-hidden className="size-3.5" />
          ) : (
            <Pause aria-hidden className="size-3.5" />
          )}
          {t(props.isPaused ? 'resume' : 'pause')}
        </Button>
        <Select
          label={t('filter')}
          options={options}
          value={props.filter}
          onValueChange={(value) => props.onFilter(FILTERS.find((one) => one === value) ?? 'all')}
        />
      </div>
    </div>
  );
}
