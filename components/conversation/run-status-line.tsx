'use client';

import { LoaderCircle } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useEffect, useState } from 'react';
import type { RunSummary } from '#lib/protocol/run';
import { useModels } from '../providers/workbench-context.tsx';
import { useWaitsForPerson } from './use-waits-for-person.ts';

export interface RunStatusLineProps {
  run: RunSummary;
  /** A message came during the step; the next one reads it. */
  isWaiting: boolean;
  /** The model was asked, and nothing of its answer is here. */
  isUnanswered: boolean;
}

/** A model that takes so long may have to be loaded first. */
const LOADING_MS = 10_000;

/** "Step 2 of max 10 · model" while the agent works. */
export function RunStatusLine({ run, isWaiting, isUnanswered }: RunStatusLineProps) {
  const t = useTranslations('conversation');
  const model = useModels().find((one) => one.model === run.model);
  const [isLoading, setLoading] = useState(false);
  useEffect(() => {
    if (!isUnanswered) return;
    const timer = setTimeout(() => setLoading(true), LOADING_MS);
    return () => {
      clearTimeout(timer);
      setLoading(false);
    };
  }, [isUnanswered]);
  const waitsForPerson = useWaitsForPerson(run.run_id);
  if (run.status !== 'running') return null;
  const step = run.step > 0 ? t('step', { step: run.step, max: run.max_steps }) : t('starting');
  return (
    <p className="flex flex-wrap items-center gap-2 text-muted" data-testid="run-status">
      <LoaderCircle aria-hidden className="spin size-4 shrink-0 text-doing" />
      {[step, model?.label ?? run.model].filter(Boolean).join(' · ')}
      {waitsForPerson && (
        <span className="chip" data-testid="waits-for-person">
          {t('waitsForPerson')}
        </span>
      )}
      {isLoading && <span className="chip">{t('modelLoading')}</span>}
      {isWaiting && <span className="chip">{t('messageWaits')}</span>}
    </p>
  );
}
