'use client';

import { useTranslations } from 'next-intl';
import { useId } from 'react';
import { Boundary } from '#components/ui/boundary';
import { HiddenNote } from '#components/ui/hidden-note';
import { late } from '#components/ui/late';
import { isRecord } from '#lib/json/is-record';
import type { FormPlan } from './form-plan.ts';
import { JsonText } from './json-text.tsx';
import type { SchemaFormProps } from './schema-form.tsx';
import { canFormHold } from './shown-schema.ts';
import type { TryIt } from './use-try-it.ts';

/** The form library is most of this page's code: fetched when a form is shown. */
const SchemaForm = late<SchemaFormProps>(() =>
  import('./schema-form.tsx').then((module) => module.SchemaForm),
);

/** A tool's arguments, by form or as JSON: two views of one value. */
export function ArgumentsInput({ state, view }: { state: TryIt; view: 'form' | 'json' }) {
  const t = useTranslations('tools');
  const { plan, compiled } = state;
  return (
    <>
      {plan.kind === 'none' && <p className="text-muted">{t('noArguments')}</p>}
      {plan.kind === 'json' && (
        <p className="mb-2 text-muted">{t('try.jsonOnly', { reason: plan.reason })}</p>
      )}
      {!compiled.ok && (
        <p className="mb-2 text-wait">{t('try.badSchema', { problem: compiled.message })}</p>
      )}
      {plan.kind === 'form' && view === 'form' && <FormArguments state={state} plan={plan} />}
      {plan.kind !== 'none' && (plan.kind === 'json' || view === 'json') && (
        <JsonArguments state={state} />
      )}
      <HiddenNote text={JSON.stringify(state.value, null, 2)} />
    </>
  );
}

interface FormArgumentsProps {
  state: TryIt;
  plan: Extract<FormPlan, { kind: 'form' }>;
}

function FormArguments({ state, plan }: FormArgumentsProps) {
  const failed = <FormFailed state={state} />;
  if (!canFormHold(state.value)) return failed;

  return (
    <Boundary of={state.value} fallback={failed}>
      <SchemaForm
        schema={plan.schema}
        ui={plan.ui}
        compiled={state.compiled}
        value={state.value}
        problems={state.shownProblems}
        onChange={state.setValue}
        onSubmit={() => void state.run()}
        report={state.report}
      />
    </Boundary>
  );
}

/** RV4: what the form cannot show can still be read and edited. */
function FormFailed({ state }: { state: TryIt }) {
  const t = useTranslations('tools.try');
  return (
    <>
      <p className="mb-2 text-wait">{t('formFailed')}</p>
      <JsonArguments state={state} />
    </>
  );
}

const WHOLE = 'arguments';

function JsonArguments({ state }: { state: TryIt }) {
  const t = useTranslations('tools.try');
  const id = useId();
  const isBroken = state.broken.has(WHOLE);
  const problems = state.shownProblems;
  return (
    <>
      <JsonText
        id={id}
        label={t('arguments')}
        value={state.value}
        isInvalid={isBroken || problems.length > 0}
        describedBy={`${id}-problems`}
        rows={6}
        onValue={(value) => {
          const args = value === undefined ? {} : value;
          state.report(WHOLE, !isRecord(args));
          if (isRecord(args)) state.setValue(args);
        }}
        onProblem={() => state.report(WHOLE, true)}
      />
      <ul id={`${id}-problems`} className="mt-1 text-[13px] text-error">
        {isBroken && <li>{t('notObject')}</li>}
        {!isBroken &&
          problems.map(({ path, problem }) => (
            <li key={`${path} ${problem}`}>{t('at', { path: path || t('whole'), problem })}</li>
          ))}
      </ul>
    </>
  );
}
