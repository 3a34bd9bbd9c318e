'use client';

// Not from the package's root: that also loads a test helper and, through it, a validator that needs `eval`.
import Form from '@rjsf/core/lib/components/Form.js';
import {
  type ArrayFieldItemTemplateProps,
  type ArrayFieldTemplateProps,
  buttonId,
  englishStringTranslator,
  type FieldErrorProps,
  type FieldProps,
  type FieldTemplateProps,
  type ObjectFieldTemplateProps,
  type RJSFSchema,
  type TemplatesType,
  TranslatableString,
  type UiSchema,
} from '@rjsf/utils';
import { useTranslations } from 'next-intl';
import { useMemo, useState } from 'react';
import type { ErrorDetail } from '#lib/protocol/http-error';
import type { CompiledToolSchema } from '#lib/schema/compile-tool-schema';
import type { FieldPlan } from './form-plan.ts';
import { JsonText } from './json-text.tsx';
import { createToolValidator, type FormData, toErrorTree } from './tool-validator.ts';
import './schema-form.css';
import { Plus, Trash2 } from 'lucide-react';
import { Button } from '#components/ui/button';
import { IconButton } from '#components/ui/icon-button';
import { MarkedText } from '#components/ui/marked-text';
import { jsonPreview } from '#lib/format/json-preview';
import { showControlCharacters } from '#lib/format/show-control-characters';

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
  const common = useTranslations('common');
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
          {common('notJson', { problem })}
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

const DEFAULT_CHARS = 60;

/** A property: its name as the tool has it, what it is for, its field, what is wrong. */
function Field(props: FieldTemplateProps<FormData, RJSFSchema>) {
  const t = useTranslations('tools.try');
  const { id, label, required, schema, rawDescription } = props;
  if (props.hidden) return <div hidden>{props.children}</div>;
  const isGroup = schema.type === 'object' || schema.type === 'array';
  const isPlainField = props.uiSchema?.['ui:field'] === 'json' || !isGroup;
  if (!isPlainField) {
    return (
      <div>
        {props.children}
        {props.errors}
      </div>
    );
  }
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="flex flex-wrap items-baseline gap-x-2">
        <span className="mono font-bold">
          <MarkedText text={label} />
        </span>
        <span className="text-xs text-muted">
          {typeof schema.type === 'string' ? schema.type : t('asJson')}
          {required && ` · ${t('required')}`}
        </span>
      </label>
      {rawDescription && <Description id={`${id}__description`} text={rawDescription} />}
      {props.children}
      {schema.default !== undefined && (
        <p className="mono text-xs text-muted">
          {t('fallback', { value: jsonPreview(schema.default, DEFAULT_CHARS) })}
        </p>
      )}
      {props.errors}
    </div>
  );
}

const Description = ({ id, text }: { id?: string; text: string }) => (
  <p id={id} className="whitespace-pre-wrap text-[13px] text-muted wrap-anywhere">
    <MarkedText text={text} keepLayout />
  </p>
);

function Errors({ errors, fieldPathId }: FieldErrorProps<FormData, RJSFSchema>) {
  if (!errors || errors.length === 0) return null;
  return (
    <ul id={`${fieldPathId.$id}__error`} className="text-[13px] text-error">
      {errors
        .filter((error) => typeof error === 'string')
        .map((error) => (
          <li key={error}>
            <MarkedText text={error} />
          </li>
        ))}
    </ul>
  );
}

function ObjectFields(props: ObjectFieldTemplateProps<FormData, RJSFSchema>) {
  const fields = props.properties.map((property) => property.content);
  const isRoot = props.fieldPathId.path.length === 0;
  if (isRoot) return <div className="flex flex-col gap-4">{fields}</div>;
  return (
    <fieldset className="min-w-0 rounded-lg border border-line p-3">
      <Legend title={props.title} required={props.required ?? false} />
      {props.schema.description && <Description text={props.schema.description} />}
      <div className="mt-2 flex flex-col gap-4">{fields}</div>
    </fieldset>
  );
}

function Legend({ title, required }: { title: string; required: boolean }) {
  const t = useTranslations('tools.try');
  return (
    <legend className="mono px-1 font-bold">
      <MarkedText text={title} />
      {required && <span className="font-sans text-xs text-muted"> · {t('required')}</span>}
    </legend>
  );
}

function ArrayFields(props: ArrayFieldTemplateProps<FormData, RJSFSchema>) {
  const t = useTranslations('tools.try');
  return (
    <fieldset className="min-w-0 rounded-lg border border-line p-3">
      <Legend title={props.title} required={props.required ?? false} />
      {props.schema.description && <Description text={props.schema.description} />}
      <div className="mt-2 flex flex-col gap-3">{props.items}</div>
      {props.canAdd && (
        <Button
          id={buttonId(props.fieldPathId, 'add')}
          size="sm"
          className="mt-2"
          onClick={props.onAddClick}
        >
          <Plus aria-hidden className="size-4" />
          {t('add', { name: showControlCharacters(props.title) })}
        </Button>
      )}
    </fieldset>
  );
}

function ArrayItem(props: ArrayFieldItemTemplateProps<FormData, RJSFSchema>) {
  const t = useTranslations('tools.try');
  const { buttonsProps, index } = props;
  const name = buttonsProps.fieldPathId.path.at(-2);
  return (
    <div className="flex items-end gap-2">
      <div className="min-w-0 flex-1">{props.children}</div>
      {buttonsProps.hasRemove && (
        <IconButton
          label={t('remove', {
            index: index + 1,
            name: typeof name === 'string' ? showControlCharacters(name) : '',
          })}
          onClick={buttonsProps.onRemoveItem}
        >
          <Trash2 aria-hidden className="size-4" />
        </IconButton>
      )}
    </div>
  );
}

const Nothing = () => null;

/** Our own parts of the form. Widgets are the library's plain inputs, styled by `schema-form.css`. */
const formTemplates: Partial<TemplatesType<FormData, RJSFSchema>> = {
  FieldTemplate: Field,
  FieldErrorTemplate: Errors,
  ObjectFieldTemplate: ObjectFields,
  ArrayFieldTemplate: ArrayFields,
  ArrayFieldItemTemplate: ArrayItem,
  DescriptionFieldTemplate: Nothing,
  ErrorListTemplate: Nothing,
};
