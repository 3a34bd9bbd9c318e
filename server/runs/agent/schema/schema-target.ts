import { isRecord } from '#lib/json/is-record';
import type { TypeWord } from '#lib/schema/schema-node';

/** Whose rules for the schemas of tools hold. `conservative`: what servers of every kind take. */
export type SchemaTarget = 'openai' | 'openai-strict' | 'anthropic' | 'gemini' | 'conservative';

/** What a target accepts in the schema of a tool. */
export interface TargetForm {
  readonly target: SchemaTarget;
  /** All others are left out; those that say something about values go into the description. */
  readonly keywords: ReadonlySet<string>;
  /** `beside`: a `$ref` may have keywords beside it. `alone`: it may not. `inline`: none is accepted. */
  readonly refs: 'beside' | 'alone' | 'inline';
  /** Which lists `type` may be: any, one word and `null`, or none. */
  readonly typeLists: 'any' | 'nullable' | 'none';
  /** Types of the values that `enum` may have; null where they may be mixed and of any type. */
  readonly enumTypes: ReadonlySet<TypeWord> | null;
  /** Values of `format` that are accepted; null for any. */
  readonly formats: ReadonlySet<string> | null;
  /** Whether `anyOf` may stand beside `type` and the like. */
  readonly unionsBeside: boolean;
  /** The names that the root's properties may have; null for any. */
  readonly rootNames: RegExp | null;
}

const ANNOTATIONS = ['title', 'description'];
const SHAPE = ['type', 'properties', 'required', 'items', 'anyOf', 'enum'];
const BOUNDS = ['minimum', 'maximum', 'minItems', 'maxItems'];

/** JSON Schema 2020-12 as both publish it, but for what their roots refuse. */
const WIDE: Omit<TargetForm, 'target'> = {
  keywords: new Set([
    ...[...ANNOTATIONS, ...SHAPE, ...BOUNDS],
    ...['default', 'examples', 'deprecated', 'readOnly', 'writeOnly'],
    ...['contentEncoding', 'contentMediaType'],
    ...['$ref', '$defs', 'const', 'format', 'pattern', 'minLength', 'maxLength'],
    ...['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'uniqueItems', 'prefixItems'],
    ...['additionalProperties', 'patternProperties', 'propertyNames'],
    ...['minProperties', 'maxProperties'],
  ]),
  refs: 'beside',
  typeLists: 'any',
  enumTypes: null,
  formats: null,
  unionsBeside: true,
  rootNames: null,
};

const FORMS: Record<SchemaTarget, Omit<TargetForm, 'target'>> = {
  openai: WIDE,
  // "Property keys should match pattern", of the root alone.
  anthropic: { ...WIDE, rootNames: /^[a-zA-Z0-9_.-]{1,64}$/ },
  // OpenAI's guide to structured outputs, "Supported schemas".
  'openai-strict': {
    keywords: new Set([
      ...[...ANNOTATIONS, ...SHAPE, ...BOUNDS, '$ref', '$defs', 'format', 'pattern'],
      ...['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'additionalProperties'],
    ]),
    refs: 'alone',
    typeLists: 'any',
    enumTypes: new Set(['string', 'number', 'integer', 'boolean', 'null']),
    formats: new Set([
      ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
    ]),
    unionsBeside: false,
    rootNames: null,
  },
  // The reference of `responseJsonSchema` lists the keywords; references and
  // `additionalProperties` are refused by older models.
  gemini: {
    keywords: new Set([...ANNOTATIONS, ...SHAPE, ...BOUNDS, 'format']),
    refs: 'inline',
    typeLists: 'nullable',
    enumTypes: new Set(['string', 'number', 'integer']),
    formats: new Set(['date-time', 'date', 'time']),
    unionsBeside: false,
    rootNames: null,
  },
  // Chat templates read `type` as one word; grammars refuse patterns without anchors.
  conservative: {
    keywords: new Set([...ANNOTATIONS, ...SHAPE, ...BOUNDS, 'default', 'minLength', 'maxLength']),
    refs: 'inline',
    typeLists: 'none',
    enumTypes: new Set(['string', 'number', 'integer', 'boolean']),
    formats: new Set(),
    unionsBeside: false,
    rootNames: null,
  },
};

export const formOf = (target: SchemaTarget): TargetForm => ({ target, ...FORMS[target] });

/** A part of a schema as it was sent, or as it is being made. Nothing in it is sure to be of its kind. */
export type Schema = Readonly<Record<string, unknown>>;

/** Schemas that references have led to on the way to a part, the same one perhaps more than once. */
export type Open = readonly Schema[];

/** State of one normalization. */
export interface NormalRun {
  readonly root: Schema;
  readonly form: TargetForm;
  /** What references lead to: by the schema there, its name in `$defs`. */
  readonly names: Map<Schema, string>;
  readonly defs: Map<string, Schema>;
  readonly warnings: Set<string>;
  refusal: string | undefined;
  /** Parts that may still be made: references written out can grow beyond any bound. */
  partsLeft: number;
}

const MOST_PARTS = 1_000;
const MOST_WARNINGS = 20;

export const createNormalRun = (root: Schema, form: TargetForm): NormalRun => ({
  root,
  form,
  names: new Map(),
  defs: new Map(),
  warnings: new Set(),
  refusal: undefined,
  partsLeft: MOST_PARTS,
});

export function warn(run: NormalRun, warning: string): void {
  if (run.warnings.size < MOST_WARNINGS) run.warnings.add(warning);
}

export const asSchema = (value: unknown): Schema => (isRecord(value) ? value : {});
export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const asTexts = (value: unknown): readonly string[] =>
  asList(value).filter((one) => typeof one === 'string');

/** Whether a part says of what kind its values are. */
export const hasShape = (schema: Schema): boolean =>
  ['type', 'anyOf', '$ref', 'enum', 'const'].some((keyword) => schema[keyword] !== undefined);
