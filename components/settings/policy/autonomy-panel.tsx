'use client';

import { useTranslations } from 'next-intl';
import { type FormEvent, useId, useRef, useState } from 'react';
import { AUTONOMY_LEVELS, type AutonomyLevel } from '#lib/policy/autonomy';
import type { WireAutonomy } from '#lib/policy/policy-wire';
import { useRuns } from '../../providers/workbench-context.tsx';
import { Button } from '../../ui/button.tsx';
import { MarkedText } from '../../ui/marked-text.tsx';
import { Select } from '../../ui/select.tsx';
import { Choice } from '../choice.tsx';
import { ConfirmFull } from './confirm-full.tsx';
import { type SetLevel, useSetAutonomy } from './use-set-autonomy.ts';

export interface AutonomyPanelProps {
  autonomy: WireAutonomy;
  mayChange: boolean;
}

/** How much agents do without a person, for all and for single runs; switched by a button, not by looking. */
export function AutonomyPanel({ autonomy, mayChange }: AutonomyPanelProps) {
  const t = useTranslations('settings.policy.autonomy');
  const titleId = useId();
  const { set, isSending } = useSetAutonomy();
  const [chosen, setChosen] = useState<AutonomyLevel | null>(null);
  const level = chosen ?? autonomy.level;
  const [isAsking, setAsking] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const switchTo = async () => {
    // What was chosen meanwhile stays chosen.
    if (await set(level)) setChosen((now) => (now === level ? null : now));
    setAsking(false);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (level === 'full' && autonomy.level !== 'full') setAsking(true);
    else void switchTo();
  };
  return (
    <section aria-labelledby={titleId} className="mt-4">
      <h2 id={titleId} className="text-base font-bold">
        {t('title')}
      </h2>
      <p data-testid="autonomy-now">
        {t.rich('now', {
          strong: (level) => <strong>{level}</strong>,
          level: t(`level.${autonomy.level}`),
          text: t(`text.${autonomy.level}`),
        })}
      </p>
      {mayChange && (
        <form onSubmit={submit} className="mt-2">
          <Choice
            legend={t('forAll')}
            name="autonomy"
            options={AUTONOMY_LEVELS}
            value={level}
            onValue={setChosen}
          >
            {(one) => `${t(`level.${one}`)}: ${t(`text.${one}`)}`}
          </Choice>
          {isAsking && level === 'full' ? (
            <ConfirmFull
              of="all"
              isSending={isSending}
              returnTo={button}
              onConfirm={() => void switchTo()}
              onBack={() => setAsking(false)}
            />
          ) : (
            <Button ref={button} type="submit" variant="primary" aria-disabled={isSending}>
              {t('switch')}
            </Button>
          )}
        </form>
      )}
      <RunLevels autonomy={autonomy} mayChange={mayChange} set={set} isSending={isSending} />
    </section>
  );
}

interface Setting {
  set: SetLevel;
  isSending: boolean;
}

const LIST = { role: 'list' };

function RunLevels({
  autonomy: { runs },
  mayChange,
  set,
  isSending,
}: Pick<AutonomyPanelProps, 'autonomy' | 'mayChange'> & Setting) {
  const t = useTranslations('settings.policy.autonomy');
  const titleOf = useTitles();
  return (
    <>
      <h3 className="mt-3 font-medium">{t('ofRuns')}</h3>
      {runs.length === 0 && <p className="text-muted">{t('noRuns')}</p>}
      <ul className="divide-y divide-line" {...LIST}>
        {runs.map(({ run_id, level }) => (
          <li
            key={run_id}
            data-testid="run-level"
            className="flex flex-wrap items-center gap-2 py-1"
          >
            <span className="min-w-0 flex-1 wrap-anywhere">
              <MarkedText text={titleOf(run_id)} />: <strong>{t(`level.${level}`)}</strong>
            </span>
            {mayChange && (
              <Button
                size="sm"
                aria-label={`${t('takeAway')}: ${titleOf(run_id)}`}
                onClick={() => void set(null, run_id)}
              >
                {t('takeAway')}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {mayChange && <NewRunLevel set={set} isSending={isSending} />}
    </>
  );
}

function useTitles(): (runId: string) => string {
  const runs = useRuns();
  return (runId) => runs.find(({ run_id }) => run_id === runId)?.title || runId;
}

/** A run is chosen from the newest ones, or named by its id. */
function NewRunLevel({ set, isSending }: Setting) {
  const t = useTranslations('settings.policy.autonomy');
  const runs = useRuns();
  const listId = useId();
  const field = useRef<HTMLInputElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [level, setLevel] = useState<AutonomyLevel>('read_only');
  const [asked, setAsked] = useState<string | null>(null);
  const setFor = async (runId: string) => {
    if ((await set(level, runId)) && field.current) field.current.value = '';
    setAsked(null);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const runId = field.current?.value.trim() ?? '';
    if (runId === '') field.current?.focus();
    else if (level === 'full') setAsked(runId);
    else void setFor(runId);
  };
  return (
    <form onSubmit={submit} className="mt-2 flex flex-wrap items-end gap-2">
      <label className="min-w-0 flex-1 basis-40 sm:max-w-72">
        <span className="block text-xs font-medium">{t('run')}</span>
        <input
          ref={field}
          list={listId}
          maxLength={128}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          placeholder="run_…"
          className="field mono w-full"
        />
      </label>
      <datalist id={listId}>
        {runs.map(({ run_id, title }) => (
          <option key={run_id} value={run_id} label={title} />
        ))}
      </datalist>
      <Select
        label={t('levelOfRun')}
        value={level}
        onValueChange={(value) =>
          setLevel(AUTONOMY_LEVELS.find((one) => one === value) ?? 'read_only')
        }
        options={AUTONOMY_LEVELS.map((value) => ({ value, label: t(`level.${value}`) }))}
      />
      {asked !== null && level === 'full' ? (
        <ConfirmFull
          of="run"
          isSending={isSending}
          returnTo={button}
          onConfirm={() => void setFor(asked)}
          onBack={() => setAsked(null)}
        />
      ) : (
        <Button ref={button} type="submit">
          {t('setForRun')}
        </Button>
      )}
    </form>
  );
}
