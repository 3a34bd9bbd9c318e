import { useTranslations } from 'next-intl';
import { useId, useRef, useState } from 'react';
import { Button } from '#components/ui/button';
import type { ApprovalInput } from '#lib/api/http-client';
import { ANY_ARGUMENTS, exactly, isWithin, problemOfBound } from '#lib/approval/bound-arguments';
import type { AlwaysOffer, AlwaysScope, BoundArguments } from '#lib/protocol/always';
import { useClients, useTitle } from '../providers/workbench-context.tsx';
import { MarkedText } from '../ui/marked-text.tsx';
import { Select } from '../ui/select.tsx';
import { AllowButton, type AllowButtonProps } from './allow-button.tsx';
import { useAlwaysWords } from './always-words.ts';
import { BoundChoice } from './bound-choice.tsx';
import { useFirstFocus } from './use-first-focus.ts';

const HOUR = 3_600;
/** In seconds, by their names in the messages. */
const ENDS = { hour: HOUR, day: 24 * HOUR, month: 720 * HOUR, year: 8_760 * HOUR } as const;
type End = keyof typeof ENDS | 'none';

const SCOPES = ['run', 'saved'] as const satisfies readonly AlwaysScope[];
/** A saved rule has an end. */
const ENDS_OF: Record<AlwaysScope, readonly End[]> = {
  run: ['none', 'hour', 'day', 'month', 'year'],
  saved: ['hour', 'day', 'month', 'year'],
};
const FIRST_END: Record<AlwaysScope, End> = { run: 'none', saved: 'month' };

/** A person chooses for how many calls a rule is; 0 means any number. */
const USES = [0, 1, 5, 20, 100] as const;

const FORMS = ['any', 'exact', 'chosen'] as const;
type Form = (typeof FORMS)[number];

/** A rule may be bound to arguments that are known here, and has to be where the server says so. */
function formsOf({ binding }: AlwaysOffer, args: AlwaysFormProps['args']): readonly Form[] {
  if (binding === 'exact') return ['exact'];
  return binding === 'never' || !args || Object.keys(args).length === 0 ? ['any'] : FORMS;
}

/** The server would refuse such a rule; null: it would not. */
function problemIn(
  always: AlwaysOffer,
  bound: BoundArguments,
  args: AlwaysFormProps['args'],
): 'excludes' | 'tooMuch' | null {
  if (!args || bound.arguments.length === 0) return null;
  if (!isWithin(bound, args)) return 'excludes';
  return problemOfBound(always, bound, args) === undefined ? null : 'tooMuch';
}

export interface AlwaysFormProps {
  always: AlwaysOffer;
  /** The arguments are the call's own; null while they are not known whole. */
  args: Readonly<Record<string, unknown>> | null;
  /** How each button that allows the call is blocked. */
  allow: Pick<AllowButtonProps, 'disabled' | 'blockedBy' | 'onBlocked'>;
  onDecide: (input: ApprovalInput) => void;
  onBack: () => void;
}

/** How far an "always" reaches and how long it holds, with the exact rule as it will be written. */
export function AlwaysForm({ always, args, allow, onDecide, onBack }: AlwaysFormProps) {
  const t = useTranslations('card.approval');
  const common = useTranslations('common');
  const fields = useRef<HTMLFieldSetElement>(null);
  useFirstFocus(fields, 'select', true);
  const [scope, setScope] = useState<AlwaysScope>('run');
  const [end, setEnd] = useState<End>(FIRST_END.run);
  const choose = (next: AlwaysScope) => {
    setScope(next);
    setEnd(FIRST_END[next]);
  };
  const inWords = useTranslations('card.always');
  const words = useAlwaysWords();
  const forms = formsOf(always, args);
  const [form, setForm] = useState<Form>(forms[0] ?? 'any');
  const [chosen, setChosen] = useState<BoundArguments>(ANY_ARGUMENTS);
  const [uses, setUses] = useState(0);
  const bound = form === 'any' ? ANY_ARGUMENTS : form === 'exact' ? exactly(args ?? {}) : chosen;
  const isBound = bound.arguments.length > 0;
  const problem = problemIn(always, bound, args);
  const problemId = useId();
  const { client_id: clientId, run_id: runId } = always;
  const named = useClients().find((one) => one.client_id === clientId)?.name;
  const title = useTitle(runId);
  const client = clientId === null ? common('theServer') : named || clientId;
  const where = scope === 'run' && title ? t('scopeOfRun', { title }) : t(`scope.${scope}`);
  const options = <Name extends string>(names: readonly Name[], label: (name: Name) => string) =>
    names.map((value) => ({ value, label: label(value) }));
  return (
    <fieldset
      ref={fields}
      className="mt-2 min-w-0 rounded-md border border-line p-2"
      data-testid="always-form"
    >
      <legend className="px-1 text-xs font-medium">{t('alwaysTitle')}</legend>
      <div className="flex flex-wrap gap-2">
        <Select
          label={t('alwaysScope')}
          value={scope}
          onValueChange={(value) => choose(SCOPES.find((one) => one === value) ?? 'run')}
          options={options(SCOPES, (one) => t(`scope.${one}`))}
        />
        <Select
          label={t('alwaysEnd')}
          value={end}
          onValueChange={(value) =>
            setEnd(ENDS_OF[scope].find((one) => one === value) ?? FIRST_END[scope])
          }
          options={options(ENDS_OF[scope], (one) => t(`end.${one}`))}
        />
        <Select
          label={inWords('arguments')}
          value={form}
          onValueChange={(value) => setForm(forms.find((one) => one === value) ?? 'any')}
          options={options(forms, (one) => inWords(`form.${one}`))}
        />
        <Select
          label={inWords('howOften')}
          value={String(uses)}
          onValueChange={(value) => setUses(USES.find((one) => String(one) === value) ?? 0)}
          options={USES.map((one) => ({
            value: String(one),
            label: one === 0 ? inWords('anyUses') : words.uses(one),
          }))}
        />
      </div>
      {form === 'chosen' && args && <BoundChoice args={args} bound={chosen} onChange={setChosen} />}
      <p
        role="status"
        title={always.client_id ?? undefined}
        className="mt-1.5 text-xs wrap-anywhere"
        data-testid="always-rule"
      >
        <MarkedText
          text={inWords('rule', {
            tool: always.tool_name,
            client,
            args: words.args(bound),
            scope: where,
            end:
              uses > 0
                ? inWords('ends', { end: t(`end.${end}`), uses: words.uses(uses) })
                : t(`end.${end}`),
          })}
        />
      </p>
      {problem && (
        <p
          id={problemId}
          role="alert"
          className="mt-1.5 text-xs text-error"
          data-testid="always-problem"
        >
          {inWords(`problem.${problem}`)}
        </p>
      )}
      <div className="mt-2 flex flex-wrap gap-2">
        <AllowButton
          {...allow}
          blockedBy={allow.blockedBy ?? (problem && problemId)}
          onBlocked={() => {
            if (allow.blockedBy) allow.onBlocked();
            else fields.current?.querySelector('select')?.focus();
          }}
          onClick={() =>
            onDecide({
              decision: 'always',
              scope,
              ...(end !== 'none' && { expires_in: ENDS[end] }),
              ...(isBound && {
                bound: [...bound.arguments],
                other_arguments: bound.other_arguments,
              }),
              ...(uses > 0 && { uses }),
            })
          }
        >
          {t('alwaysAllow')}
        </AllowButton>
        <Button onClick={onBack}>{common('back')}</Button>
      </div>
    </fieldset>
  );
}
