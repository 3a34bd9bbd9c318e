'use client';

// Not from the package's root: that also loads a test helper and, through it, a validator that needs `eval`.
import Form from '@rjsf/core/lib/components/Form.js';
import {
  englishStringTranslator,
  type FieldProps,
  type RJSFSchema,
  TranslatableString,
  type UiSchema,
} from '@rjsf/utils';
import { useTranslations } from 'next-intl';
import { useMemo, useState } from 'react';
import type { ErrorDetail } from '#lib/protocol/http-error';
import type { CompiledToolSchema } from '#lib/schema/compile-tool-schema';
import type { FieldPlan } from './form-plan.ts';
import { formTemplates } from './form-templates.tsx';
import { JsonText } from './json-text.tsx';
import { createToolValidator, type FormData, toErrorTree } from './tool-validator.ts';
import './schema-form.css';

export interface SchemaFormProps {
  schema: Readonly<Record<string, unknown>>;
  ui: FieldPlan;
  compiled: CompiledToolSchema;
  value: FormData;
  /** What is wrong with the value; shown only after an attempt to send. */
  problems: readonly ErrorDetail[];
  onChange: (value: FormData) => void;
  onSubmit: () => void;
  report: ReportProblem;
}

const FIELDS = { json: JsonField };

/** What the form shows is exactly what is sent: no default slips in unseen. */
const NO_HIDDEN_DEFAULTS = { emptyObjectFields: 'skipDefaults' } as const;

/** A tool's arguments as a form made from its schema. */
export function SchemaForm(props: SchemaFormProps) {
  const { compiled, problems } = props;
  const t = useTranslations('tools.try');
  const extraErrors = useMemo(() => toErrorTree(problems), [problems]);
  const validator = useMemo(() => createToolValidator(compiled), [compiled]);
  const ui: UiSchema<FormData, RJSFSchema> = useMemo(
    () => ({
      ...props.ui,
      'ui:submitButtonOptions': { norender: true },
      'ui:globalOptions': { placeholder: t('unset') },
    }),
    [props.ui, t],
  );
  const formContext = useMemo(() => ({ report: props.report }), [props.report]);
  return (
    <Form
      className="schema-form"
      idPrefix="argument"
      schema={props.schema}
      uiSchema={ui}
      formData={props.value}
      validator={validator}
      templates={formTemplates}
      fields={FIELDS}
      formContext={formContext}
      translateString={(text, params) => {
        if (text === TranslatableString.YesLabel) return t('yes');
        if (text === TranslatableString.NoLabel) return t('no');
        return englishStringTranslator(text, params);
      }}
      experimental_defaultFormStateBehavior={NO_HIDDEN_DEFAULTS}
      noHtml5Validate
      // The page checks at each change anyway, for both views; the form only shows it.
      noValidate
      extraErrors={extraErrors}
      showErrorList={false}
      onChange={({ formData }) => props.onChange(withoutGaps(formData ?? {}))}
      onSubmit={props.onSubmit}
    />
  );
}

/** A field that was emptied is not given, and JSON has no word for that. */
const withoutGaps = (value: FormData): FormData => JSON.parse(JSON.stringify(value));

/** One property that no plain field can show faithfully, edited as JSON. */
function JsonField(props: FieldProps) {
  const t = useTranslations('tools.try');
  const { fieldPathId, onChange } = props;
  const [problem, setProblem] = useState<string | null>(null);
  const id = fieldPathId.$id;
  return (
    <>
      <JsonText
        id={id}
        value={props.formData}
        describedBy={`${id}__description ${id}__error`}
        isInvalid={problem !== null || (props.rawErrors?.length ?? 0) > 0}
        rows={3}
        onValue={(value) => {
          setProblem(null);
          reportOf(props)?.(id, false);
          onChange(value, fieldPathId.path, undefined, id);
        }}
        onProblem={(message) => {
          setProblem(message);
          reportOf(props)?.(id, true);
        }}
      />
      {problem !== null && (
        <p role="alert" className="text-[13px] text-error">
          {t('notJson', { problem })}
        </p>
      )}
    </>
  );
}

/** Reports to the form that a field holds text that is not JSON, which must not be sent as what it was before. */
type ReportProblem = (fieldId: string, isBroken: boolean) => void;

function reportOf(props: FieldProps): ReportProblem | undefined {
  const context: unknown = props.registry.formContext;
  return isFormContext(context) ? context.report : undefined;
}

const isFormContext = (value: unknown): value is { report: ReportProblem } =>
  typeof value === 'object' && value !== null && 'report' in value;
