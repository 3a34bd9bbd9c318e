import { showControlCharacters } from '#lib/format/show-control-characters';
import { isRecord } from '#lib/json/is-record';
import { fitsPlainField, isNameOfEveryObject, shownKeywords } from './shown-schema.ts';

type Schema = Readonly<Record<string, unknown>>;

/** How each property of a schema is edited. Keys as in rjsf's `uiSchema`. */
export interface FieldPlan {
  readonly [key: string]: unknown;
}

export type FormPlan =
  | { readonly kind: 'form'; readonly schema: Schema; readonly ui: FieldPlan }
  | { readonly kind: 'json'; readonly reason: string }
  | { readonly kind: 'none' };

/** Deeper than this a form is a maze. */
const MAX_DEPTH = 4;

/** Keywords under which one value has several readings: a form would have to guess one. */
const AMBIGUOUS = ['anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else', '$ref', '$dynamicRef'];
const OPEN_SHAPES = ['patternProperties', 'dependencies', 'dependentSchemas', 'prefixItems'];

/**
 * What of a schema a form can show without misreporting what is sent (CD13).
 * A property that it cannot show is edited as JSON within the form.
 */
export function planForm(schema: Schema): FormPlan {
  const properties = propertiesOf(schema);
  const problem =
    [...AMBIGUOUS, ...OPEN_SHAPES].find((keyword) => keyword in schema) ??
    Object.keys(properties).find(isNameOfEveryObject);
  if (problem !== undefined) return { kind: 'json', reason: problem };
  if (schema.type !== 'object' && schema.type !== undefined)
    return { kind: 'json', reason: 'type' };
  if (Object.keys(properties).length === 0) {
    // `additionalProperties` is true unless set otherwise, and still most such tools take nothing.
    return isRecord(schema.additionalProperties) || schema.additionalProperties === true
      ? { kind: 'json', reason: 'additionalProperties' }
      : { kind: 'none' };
  }
  const ui = planObject(schema, 0);
  return { kind: 'form', schema: schemaToShow(schema, ui), ui };
}

/** The values a form starts with: the defaults of the schema, and nothing else. */
export function initialArguments(schema: Schema): Record<string, unknown> {
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.fromEntries(
    Object.entries(propertiesOf(schema)).flatMap(([name, property]) => {
      if (!isRecord(property)) return [];
      if ('default' in property) return [[name, property.default]];
      return 'const' in property && required.includes(name) ? [[name, property.const]] : [];
    }),
  );
}

const propertiesOf = (schema: Schema): Schema =>
  isRecord(schema.properties) ? schema.properties : {};

/**
 * The schema as far as the form reads it. Unknown keys that a person types as
 * JSON must not grow fields of a guessed type, and what is edited as JSON is
 * only named: the check uses the whole schema.
 */
function schemaToShow(schema: Schema, ui: FieldPlan): Schema {
  const properties = Object.entries(propertiesOf(schema)).map(([name, inner]) => {
    const plan = ui[name];
    if (!isRecord(inner) || !isRecord(plan)) return [name, { title: name }];
    return [name, plan === AS_JSON ? onlyNamed(name, inner) : fieldToShow(inner, plan)];
  });
  return { ...shownKeywords(schema), properties: Object.fromEntries(properties) };
}

function fieldToShow(schema: Schema, plan: FieldPlan): Schema {
  if (schema.type === 'object') return schemaToShow(schema, plan);
  if (schema.type !== 'array' || !isRecord(schema.items) || !isRecord(plan.items)) {
    return shownKeywords(schema);
  }
  return { ...shownKeywords(schema), items: fieldToShow(schema.items, plan.items) };
}

/** The title is the name: a schema without any keyword would not be drawn at all. */
function onlyNamed(name: string, schema: Schema): Schema {
  const { description, default: fallback } = shownKeywords(schema);
  return {
    title: name,
    ...(description === undefined ? {} : { description }),
    ...(fallback === undefined ? {} : { default: fallback }),
  };
}

function planObject(schema: Schema, depth: number): FieldPlan {
  return Object.fromEntries(
    Object.entries(propertiesOf(schema)).map(([name, inner]) => [
      name,
      planField(name, inner, depth),
    ]),
  );
}

const AS_JSON: FieldPlan = { 'ui:field': 'json' };

function planField(name: string, schema: unknown, depth: number): FieldPlan {
  if (!isRecord(schema) || depth > MAX_DEPTH) return AS_JSON;
  if ([...AMBIGUOUS, ...OPEN_SHAPES, 'const'].some((keyword) => keyword in schema)) return AS_JSON;
  if ('enum' in schema && !isPlainEnum(schema)) return AS_JSON;
  if ('default' in schema && !fitsPlainField(schema.default, schema)) return AS_JSON;
  switch (schema.type) {
    case 'string':
      return Array.isArray(schema.enum)
        ? planChoice(schema.enum)
        : { 'ui:widget': isLongText(name, schema) ? 'textarea' : 'text' };
    case 'number':
    case 'integer':
      return {};
    case 'boolean':
      // A tick box does not distinguish "no" from "not given"; a select does.
      return { 'ui:widget': 'select' };
    case 'array':
      return planArray(name, schema, depth);
    case 'object':
      return isPlainObject(schema) && !hasOpenKeys(schema)
        ? planObject(schema, depth + 1)
        : AS_JSON;
    default:
      return AS_JSON;
  }
}

/** Two choices can differ in a character that does not show. */
function planChoice(values: readonly unknown[]): FieldPlan {
  const names = values.map((value) =>
    typeof value === 'string' ? showControlCharacters(value) : value,
  );
  return names.every((name, at) => name === values[at]) ? {} : { 'ui:enumNames': names };
}

function isPlainObject(schema: Schema): boolean {
  const names = Object.keys(propertiesOf(schema));
  return names.length > 0 && !names.some(isNameOfEveryObject);
}

const hasOpenKeys = (schema: Schema): boolean =>
  isRecord(schema.additionalProperties) || schema.additionalProperties === true;

function planArray(name: string, schema: Schema, depth: number): FieldPlan {
  const { items } = schema;
  if (!isRecord(items) || items.type === 'array' || 'enum' in items) return AS_JSON;
  const plan = planField(name, items, depth + 1);
  return plan === AS_JSON ? AS_JSON : { items: plan };
}

/** Distinct texts or distinct numbers; mixed or repeated ones cannot be distinguished in a list. */
function isPlainEnum(schema: Schema): boolean {
  const values = schema.enum;
  if (!Array.isArray(values) || values.length === 0) return false;
  const kinds = new Set(values.map((value) => typeof value));
  const isOneKind = kinds.size === 1 && (kinds.has('string') || kinds.has('number'));
  const fitsType = kinds.has('string') ? schema.type === 'string' : schema.type !== 'string';
  return isOneKind && fitsType && new Set(values).size === values.length;
}

const LONG_TEXT_NAME = /text|content|body|message|query|sql|code|script|prompt/i;
const LONG_TEXT_CHARS = 200;

const isLongText = (name: string, schema: Schema): boolean =>
  typeof schema.maxLength === 'number'
    ? schema.maxLength > LONG_TEXT_CHARS
    : LONG_TEXT_NAME.test(name);
