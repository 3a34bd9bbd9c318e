'use client';

import { useTranslations } from 'next-intl';
import { type FormEvent, type ReactNode, type RefObject, useId, useRef, useState } from 'react';
import type { ApiResult } from '#lib/api/api-result';
import { parseArguments } from '#lib/format/json-preview';
import { CALL_ORIGINS, CALLING_ROLES, type CallOrigin } from '#lib/policy/policy-definition';
import type { DryRunAnswer, DryRunBody } from '#lib/policy/policy-wire';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { useFormatFailure } from '../../failure/format-failure.ts';
import { useTools } from '../../providers/workbench-context.tsx';
import { Button } from '../../ui/button.tsx';
import { MarkedText } from '../../ui/marked-text.tsx';
import { Select } from '../../ui/select.tsx';
import { EFFECT_TONES } from './rule-list.tsx';
import { usePolicyApi } from './use-policy-api.ts';

const KINDS = ['self', 'operator', 'agent'] as const;
type Kind = (typeof KINDS)[number];

/** What is asked, as a person puts it together; `client` empty: the one that would be asked now. */
interface Question {
  readonly tool: string;
  readonly client: string;
  readonly kind: Kind;
  readonly role: (typeof CALLING_ROLES)[number];
  readonly via: CallOrigin;
}

const FIRST: Question = { tool: '', client: '', kind: 'self', role: 'operator', via: 'http' };

/** Shows what would become of a call, by which rule and why. Nothing is called. */
export function DryRunForm() {
  const t = useTranslations('settings.policy.try');
  const titleId = useId();
  const tools = useTools();
  const [given, setGiven] = useState(FIRST);
  const question = { ...given, tool: given.tool || (tools[0]?.name ?? '') };
  const { send, fields, isSending, outcome, problem } = useDryRun(question);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void send();
  };
  return (
    <section aria-labelledby={titleId} className="mt-6">
      <h2 id={titleId} className="text-base font-bold">
        {t('title')}
      </h2>
      <p className="text-muted">{t('text')}</p>
      {tools.length === 0 ? (
        <p className="text-muted">{t('noTools')}</p>
      ) : (
        <form
          noValidate
          onSubmit={submit}
          className="mt-2 space-y-2 rounded-lg border border-line bg-surface p-3"
        >
          <Choices
            question={question}
            tools={tools}
            onChange={(next) => setGiven({ ...given, ...next })}
          />
          <div className="flex flex-wrap gap-2">
            {given.kind !== 'self' && <TextField label={t('name')} field={fields.name} />}
            <TextField label={t('run')} field={fields.run} placeholder="run_…" />
          </div>
          <ArgsField field={fields.args} problem={problem} />
          <Button type="submit" variant="primary" aria-disabled={isSending}>
            {t(isSending ? 'asking' : 'ask')}
          </Button>
          <div role="status">{outcome && <Outcome outcome={outcome} />}</div>
        </form>
      )}
    </section>
  );
}

interface ChoicesProps {
  question: Question;
  tools: readonly ToolListing[];
  onChange: (change: Partial<Question>) => void;
}

function Choices({ question, tools, onChange }: ChoicesProps) {
  const t = useTranslations('settings.policy.try');
  const tool = tools.find(({ name }) => name === question.tool);
  const clients = [...(tool?.clients ?? []), ...(tool?.others ?? [])];
  return (
    <div className="flex flex-wrap gap-2">
      <Field label={t('tool')}>
        <Select
          label={t('tool')}
          value={question.tool}
          onValueChange={(value) => onChange({ tool: value, client: '' })}
          options={tools.map(({ name }) => ({ value: name, label: name }))}
        />
      </Field>
      <Field label={t('client')}>
        <Select
          label={t('client')}
          value={question.client}
          onValueChange={(client) => onChange({ client })}
          options={[
            { value: '', label: t('anyClient') },
            ...clients.map(({ client_id, name }) => ({
              value: client_id,
              label: `${name} (${client_id})`,
            })),
          ]}
        />
      </Field>
      <Field label={t('caller')}>
        <Select
          label={t('caller')}
          value={question.kind}
          onValueChange={(value) =>
            onChange({ kind: KINDS.find((one) => one === value) ?? 'self' })
          }
          options={KINDS.map((value) => ({ value, label: t(`kind.${value}`) }))}
        />
      </Field>
      {question.kind === 'operator' && (
        <Field label={t('role')}>
          <Select
            label={t('role')}
            value={question.role}
            onValueChange={(value) =>
              onChange({ role: CALLING_ROLES.find((one) => one === value) ?? 'operator' })
            }
            options={CALLING_ROLES.map((value) => ({ value, label: value }))}
          />
        </Field>
      )}
      <Field label={t('via')}>
        <Select
          label={t('via')}
          value={question.via}
          onValueChange={(value) =>
            onChange({ via: CALL_ORIGINS.find((one) => one === value) ?? 'http' })
          }
          options={CALL_ORIGINS.map((value) => ({ value, label: t(`origin.${value}`) }))}
        />
      </Field>
    </div>
  );
}

/** The label that is seen; for those who listen, the field has it itself. */
const Field = ({ label, children }: { label: string; children: ReactNode }) => (
  <div className="min-w-0 max-w-full">
    <span aria-hidden className="block text-xs font-medium">
      {label}
    </span>
    {children}
  </div>
);

interface TextFieldProps {
  label: string;
  field: RefObject<HTMLInputElement | null>;
  placeholder?: string;
}

const TextField = ({ label, field, placeholder }: TextFieldProps) => (
  <label className="min-w-0 flex-1 basis-40 sm:max-w-64">
    <span className="block text-xs font-medium">{label}</span>
    <input
      ref={field}
      maxLength={128}
      placeholder={placeholder}
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      className="field mono w-full"
    />
  </label>
);

interface ArgsFieldProps {
  field: RefObject<HTMLTextAreaElement | null>;
  problem: string | null;
}

function ArgsField({ field, problem }: ArgsFieldProps) {
  const t = useTranslations('settings.policy.try');
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className="block text-xs font-medium">
        {t('args')}
      </label>
      <textarea
        id={id}
        ref={field}
        rows={4}
        defaultValue="{}"
        spellCheck={false}
        aria-invalid={problem !== null}
        aria-describedby={`${id}-problem`}
        className="field mono w-full"
      />
      <p role="alert" id={`${id}-problem`} className="text-error wrap-anywhere empty:hidden">
        {problem !== null && <MarkedText text={problem} />}
      </p>
    </div>
  );
}

/** What the fields hold, sent as a question; what is wrong with the arguments leads back to them. */
function useDryRun(question: Question) {
  const t = useTranslations('settings.policy.try');
  const api = usePolicyApi();
  const formatFailure = useFormatFailure();
  const name = useRef<HTMLInputElement>(null);
  const run = useRef<HTMLInputElement>(null);
  const args = useRef<HTMLTextAreaElement>(null);
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [outcome, setOutcome] = useState<DryRunAnswer | null>(null);
  const fail = (text: string) => {
    setProblem(text);
    setOutcome(null);
    args.current?.focus();
  };
  const show = (answer: ApiResult<DryRunAnswer>) => {
    if (answer.ok) return setOutcome(answer.value);
    const details = answer.details.map((one) => `${one.path}: ${one.problem}`);
    fail([formatFailure(answer), ...details].join(' '));
  };
  const send = async () => {
    if (isSending) return;
    const parsed = parseArguments(args.current?.value ?? '');
    if (!parsed.ok) return fail(t('notObject'));
    const runId = run.current?.value.trim() ?? '';
    const caller = { name: name.current?.value.trim() ?? '', ...question };
    setProblem(null);
    setSending(true);
    show(await api.dryRun(toBody(caller, parsed.args, runId)));
    setSending(false);
  };
  return { send, fields: { name, run, args }, isSending, problem, outcome };
}

function toBody(
  { tool, client, kind, role, via, name }: Question & { name: string },
  args: Record<string, unknown>,
  runId: string,
): DryRunBody {
  const caller =
    kind === 'self' ? {} : { caller: { kind, name, ...(kind === 'operator' ? { role } : {}) } };
  return {
    tool: client === '' ? tool : `${tool}@${client}`,
    args,
    via,
    ...caller,
    ...(runId === '' ? {} : { run_id: runId }),
  };
}

function Outcome({ outcome }: { outcome: DryRunAnswer }) {
  const t = useTranslations('settings.policy');
  const common = useTranslations('common');
  const { effect, rule, reason, limits, access, client_id, args } = outcome;
  const facts = [
    t(`try.access.${access}`),
    client_id ?? common('theServer'),
    ...limits.map(({ limit, left }) => t('try.left', { limit, left })),
  ];
  return (
    <div data-testid="outcome" className="wrap-anywhere">
      <p>
        <span className={`chip ${EFFECT_TONES[effect]}`}>{t(`effect.${effect}`)}</span>{' '}
        {rule === null ? (
          t('try.noRule')
        ) : (
          <>
            {t('try.byRule')}{' '}
            <span className="mono font-semibold">{<MarkedText text={rule} />}</span>
          </>
        )}
      </p>
      <p>
        <MarkedText text={reason} />
      </p>
      <p className="text-[13px] text-muted">
        <MarkedText text={facts.join(' · ')} />
      </p>
      <p className="mono text-[13px]">
        <MarkedText text={JSON.stringify(args)} />
      </p>
    </div>
  );
}
