'use client';

import {
  type ArrayFieldItemTemplateProps,
  type ArrayFieldTemplateProps,
  buttonId,
  type FieldErrorProps,
  type FieldTemplateProps,
  type ObjectFieldTemplateProps,
  type RJSFSchema,
  type TemplatesType,
} from '@rjsf/utils';
import { Plus, Trash2 } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { Button } from '#components/ui/button';
import { IconButton } from '#components/ui/icon-button';
import { MarkedText } from '#components/ui/marked-text';
import { jsonPreview } from '#lib/format/json-preview';
import { showControlCharacters } from '#lib/format/show-control-characters';
import type { FormData } from './tool-validator.ts';

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
export const formTemplates: Partial<TemplatesType<FormData, RJSFSchema>> = {
  FieldTemplate: Field,
  FieldErrorTemplate: Errors,
  ObjectFieldTemplate: ObjectFields,
  ArrayFieldTemplate: ArrayFields,
  ArrayFieldItemTemplate: ArrayItem,
  DescriptionFieldTemplate: Nothing,
  ErrorListTemplate: Nothing,
};
