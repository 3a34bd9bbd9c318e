'use client';

import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { AUTONOMY_LEVELS, type AutonomyLevel } from '#lib/policy/autonomy';
import { useAutonomyLevel, useHasRole, useOwnLevel } from '../providers/workbench-context.tsx';
import { ConfirmFull } from '../settings/policy/confirm-full.tsx';
import { useSetAutonomy } from '../settings/policy/use-set-autonomy.ts';
import { Select } from '../ui/select.tsx';

const AS_ALL = 'as_all';

/** How much the agent of this conversation does without a person, and the switch for it (AN4). */
export function RunAutonomy({ runId }: { runId: string }) {
  const t = useTranslations('shell.autonomy');
  const levels = useTranslations('settings.policy.autonomy.level');
  const all = useAutonomyLevel();
  const own = useOwnLevel(runId);
  const maySwitch = useHasRole('operator');
  const { set, isSending } = useSetAutonomy();
  const [isAsking, setAsking] = useState(false);
  if (all === null || !maySwitch) return null;
  const choose = (value: string) => {
    const level = AUTONOMY_LEVELS.find((one) => one === value) ?? null;
    if (level === 'full') setAsking(true);
    else void switchTo(level);
  };
  const switchTo = async (level: AutonomyLevel | null) => {
    await set(level, runId);
    setAsking(false);
  };
  const options = AUTONOMY_LEVELS.map((value) => ({ value, label: levels(value) }));
  return (
    <div className="flex flex-wrap items-center gap-2 px-4 text-xs text-muted">
      <span aria-hidden>{t('ofRun')}</span>
      <Select
        label={t('ofRun')}
        data-testid="run-autonomy"
        value={own ?? AS_ALL}
        disabled={isSending}
        options={[{ value: AS_ALL, label: t('asAll', { level: levels(all) }) }, ...options]}
        onValueChange={choose}
      />
      {isAsking && (
        <ConfirmFull
          of="run"
          isSending={isSending}
          onConfirm={() => void switchTo('full')}
          onBack={() => setAsking(false)}
        />
      )}
    </div>
  );
}
