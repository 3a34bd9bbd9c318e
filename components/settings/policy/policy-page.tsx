'use client';

import { useTranslations } from 'next-intl';
import { useCallback, useState } from 'react';
import { Fetched } from '../../failure/fetched.tsx';
import { useAnswer } from '../../failure/use-answer.ts';
import { useAutonomy, useHasRole } from '../../providers/workbench-context.tsx';
import { ViewerNote } from '../../shell/viewer-note.tsx';
import { Button } from '../../ui/button.tsx';
import { AlwaysRules } from './always-rules.tsx';
import { AutonomyPanel } from './autonomy-panel.tsx';
import { DryRunForm } from './dry-run-form.tsx';
import { HookList } from './hook-list.tsx';
import { IdlePatterns } from './idle-patterns.tsx';
import { LimitList, MarkList, RuleList } from './rule-list.tsx';
import { SourceNote } from './source-note.tsx';
import { usePolicyApi } from './use-policy-api.ts';

/** What may be called: the policy that counts, how much agents do alone, and what was always allowed. */
export function PolicyPage() {
  const t = useTranslations('settings.policy');
  const mayChange = useHasRole('operator');
  const { answer, again } = usePolicyState();
  const known = useAutonomy();
  return (
    <>
      <h1 className="mb-1 text-lg font-bold">{t('title')}</h1>
      <p className="mb-3 text-muted">{t('text')}</p>
      {!mayChange && <ViewerNote />}
      <Fetched answer={answer} loading={<Loading />}>
        {(state) => (
          <>
            <SourceNote state={state} />
            <AutonomyPanel autonomy={known ?? state.autonomy} mayChange={mayChange} />
            <RuleList policy={state.policy} />
            <LimitList limits={state.policy.limits ?? []} />
            <IdlePatterns policy={state.policy} />
            <MarkList taint={state.policy.taint} />
            <HookList hooks={state.hooks} />
          </>
        )}
      </Fetched>
      {answer !== null && (
        <Button size="sm" className="mt-3" onClick={again}>
          {t(answer.ok ? 'refresh' : 'again')}
        </Button>
      )}
      <AlwaysRules mayChange={mayChange} />
      {mayChange && <DryRunForm />}
    </>
  );
}

function Loading() {
  return (
    <p role="status" className="text-muted">
      {useTranslations('settings')('loading')}
    </p>
  );
}

/** The state as the server has it, asked for again when a person wants that. */
function usePolicyState() {
  const api = usePolicyApi();
  const [round, setRound] = useState(0);
  const ask = useCallback(() => api.getPolicy(), [api]);
  return { answer: useAnswer(ask, round), again: () => setRound(round + 1) };
}
