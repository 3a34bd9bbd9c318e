'use client';

import { useTranslations } from 'next-intl';
import { useCallback, useState } from 'react';
import { idlePatterns, type NamingPolicy } from '#lib/policy/match';
import type { HookState, PolicyStateAnswer } from '#lib/policy/policy-wire';
import { Fetched } from '../../failure/fetched.tsx';
import { useAnswer } from '../../failure/use-answer.ts';
import { useAutonomy, useHasRole, useTools } from '../../providers/workbench-context.tsx';
import { ViewerNote } from '../../shell/viewer-note.tsx';
import { Button } from '../../ui/button.tsx';
import { MarkedText } from '../../ui/marked-text.tsx';
import { useFormatTime } from '../use-format-time.ts';
import { AlwaysRules } from './always-rules.tsx';
import { AutonomyPanel } from './autonomy-panel.tsx';
import { DryRunForm } from './dry-run-form.tsx';
import { LimitList, Listed, MarkList, RuleList } from './rule-list.tsx';
import { usePolicyApi } from './use-policy-api.ts';

/** What may be called: the policy that counts, how much agents do alone, and what was always allowed. */
export function PolicyPage() {
  const t = useTranslations('settings.policy');
  const common = useTranslations('common');
  const mayChange = useHasRole('operator');
  const { answer, again } = usePolicyState();
  const known = useAutonomy();
  return (
    <>
      <h1 className="mb-1 text-lg font-bold">{t('title')}</h1>
      <p className="mb-3 text-muted">{t('text')}</p>
      <ViewerNote />
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
          {common(answer.ok ? 'refresh' : 'again')}
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
      {useTranslations('common')('loading')}
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

/** The hooks in the order in which they are asked, and how they did since the start. */
function HookList({ hooks }: { hooks: readonly HookState[] }) {
  const t = useTranslations('settings.policy');
  return (
    <Listed title={t('hooks')} none={t('noHooks')}>
      {hooks.map((hook, at) => (
        // Two may have one name; only their order distinguishes them.
        // biome-ignore lint/suspicious/noArrayIndexKey: the list changes with a start alone.
        <li key={at} data-testid="hook" className="py-2 wrap-anywhere">
          <Hook hook={hook} />
        </li>
      ))}
    </Listed>
  );
}

function Hook({ hook }: { hook: HookState }) {
  const t = useTranslations('settings.policy.hook');
  const formatTime = useFormatTime('medium');
  const facts = [
    hook.before && t('before'),
    hook.after && t('after'),
    hook.tools === null ? t('allTools') : hook.tools.join(', '),
    t('timeout', { ms: hook.timeout_ms }),
    t(hook.security ? 'security' : 'passedBy'),
  ];
  return (
    <>
      <p>
        <span className="mono font-semibold">
          <MarkedText text={hook.name} />
        </span>{' '}
        <span className="mono text-[13px] text-muted">
          <MarkedText text={hook.module} />
        </span>
      </p>
      <p className="text-[13px]">
        <MarkedText text={facts.filter(Boolean).join(' · ')} />
      </p>
      {hook.last_failure === null ? (
        <p className="text-[13px] text-muted">{t('fine')}</p>
      ) : (
        <p className="text-[13px] text-error">
          {t('failed', { count: hook.failures, time: formatTime(hook.last_failure.at) })}{' '}
          <MarkedText text={hook.last_failure.message} />
        </p>
      )}
    </>
  );
}

/** A name in the policy that is misspelt decides about nothing, which its rule does not show. */
function IdlePatterns({ policy }: { policy: NamingPolicy }) {
  const t = useTranslations('settings.policy');
  const tools = useTools();
  const idle = idlePatterns(
    policy,
    tools.map(({ name }) => name),
  );
  if (idle.length === 0) return null;
  return (
    <p data-testid="idle-patterns" className="mt-2 text-muted wrap-anywhere">
      {t('idle')}{' '}
      <span className="mono">
        <MarkedText text={idle.join(', ')} />
      </span>
    </p>
  );
}

/** Where the policy was read from and when, and why the file as it is now does not count. */
function SourceNote({ state: { file, loaded_at, problem } }: { state: PolicyStateAnswer }) {
  const t = useTranslations('settings.policy');
  const formatTime = useFormatTime('medium');
  return (
    <div className="mb-4">
      <p className="text-[13px] text-muted wrap-anywhere" data-testid="policy-source">
        <MarkedText
          text={
            file === null
              ? t('noFile', { time: formatTime(loaded_at) })
              : t('source', { file, time: formatTime(loaded_at) })
          }
        />
      </p>
      {problem !== null && (
        <div role="alert" className="mt-2 rounded-lg border border-line bg-surface px-3 py-2">
          <p className="font-semibold text-error">{t('problem')}</p>
          <p className="mono wrap-anywhere">
            <MarkedText text={problem} />
          </p>
        </div>
      )}
    </div>
  );
}
