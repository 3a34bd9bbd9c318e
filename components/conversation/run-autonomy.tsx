'use client';

import { useTranslations } from 'next-intl';
import { type FormEvent, useRef, useState } from 'react';
import { AUTONOMY_LEVELS } from '#lib/policy/autonomy';
import { useAutonomyLevel, useHasRole, useOwnLevel } from '../providers/workbench-context.tsx';
import { ConfirmFull } from '../settings/policy/confirm-full.tsx';
import { useSetAutonomy } from '../settings/policy/use-set-autonomy.ts';
import { Button } from '../ui/button.tsx';
import { Select } from '../ui/select.tsx';

const AS_ALL = 'as_all';

/** How much the agent of this conversation does without a person, and the switch for it (AN4). */
export function RunAutonomy({ runId }: { runId: string }) {
  const t = useTranslations('shell.autonomy');
  const words = useTranslations('settings.policy.autonomy');
  const all = useAutonomyLevel();
  const own = useOwnLevel(runId);
  const maySwitch = useHasRole('operator');
  const { set, isSending } = useSetAutonomy();
  const select = useRef<HTMLSelectElement>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const [isAsking, setAsking] = useState(false);
  if (all === null || !maySwitch) return null;
  const now = own ?? AS_ALL;
  const value = chosen ?? now;
  const level = AUTONOMY_LEVELS.find((one) => one === value) ?? null;
  const leave = () => {
    setAsking(false);
    setChosen(null);
    select.current?.focus();
  };
  const switchTo = async () => {
    if (await set(level, runId)) leave();
    else setAsking(false);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isSending) return;
    if (level === 'full') setAsking(true);
    else void switchTo();
  };
  const options = AUTONOMY_LEVELS.map((one) => ({ value: one, label: words(`level.${one}`) }));
  return (
    <form onSubmit={submit} className="flex flex-wrap items-center gap-2 px-4 text-xs text-muted">
      <span aria-hidden>{t('ofRun')}</span>
      <Select
        ref={select}
        label={t('ofRun')}
        data-testid="run-autonomy"
        value={value}
        options={[
          { value: AS_ALL, label: t('asAll', { level: words(`level.${all}`) }) },
          ...options,
        ]}
        onValueChange={(one) => {
          setAsking(false);
          setChosen(one);
        }}
      />
      {isAsking && (
        <ConfirmFull
          of="run"
          isSending={isSending}
          returnTo={select}
          onConfirm={() => void switchTo()}
          onBack={leave}
        />
      )}
      {!isAsking && value !== now && (
        <Button type="submit" size="sm" aria-disabled={isSending}>
          {words('switch')}
        </Button>
      )}
    </form>
  );
}
