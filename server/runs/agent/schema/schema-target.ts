import { isRecord } from '#lib/json/is-record';
import { TYPE_WORDS, type TypeWord } from '#lib/schema/schema-node';

/** The rules of each target for the schemas of tools. `conservative`: servers of every kind take it. */
export type SchemaTarget = 'openai' | 'openai-strict' | 'anthropic' | 'gemini' | 'conservative';

/** A target accepts this in the schema of a tool. */
export interface TargetForm {
  /** All others are left out; those that say something about values go into the description. */
  readonly keywords: ReadonlySet<string>;
  /** `beside`: a `$ref` may have keywords beside it. `alone`: it may not. `inline`: none is accepted. */
  readonly refs: 'beside' | 'alone' | 'inline';
  /** `type` may be a list of any words, of one word and `null`, or none. */
  readonly typeLists: 'any' | 'nullable' | 'none';
  /** `enum` may have values of these types; null where they may be mixed and of any type. */
  readonly enumTypes: ReadonlySet<string> | null;
  /** These values of `format` are accepted; null for any. */
  readonly formats: ReadonlySet<string> | null;
  /** `anyOf` may stand beside `type` and the like. */
  readonly unionsBeside: boolean;
  /** The root's properties may have these names; null for any. */
  readonly rootNames: RegExp | null;
  /** Objects list all their names and require each, as OpenAI's strict form wants it. */
  readonly isStrict: boolean;
}

const words = (...texts: string[]): ReadonlySet<string> => new Set(texts.join(' ').split(' '));

const SHAPE =
  'title description type properties required items anyOf enum minimum maximum minItems maxItems';

/** OpenAI and Anthropic publish JSON Schema 2020-12, but for what their roots refuse. */
const WIDE: TargetForm = {
  keywords: words(
    SHAPE,
    'default examples deprecated readOnly writeOnly contentEncoding contentMediaType',
    '$ref $defs const format pattern minLength maxLength exclusiveMinimum exclusiveMaximum',
    'multipleOf uniqueItems prefixItems additionalProperties patternProperties propertyNames',
    'minProperties maxProperties',
  ),
  refs: 'beside',
  typeLists: 'any',
  enumTypes: null,
  formats: null,
  unionsBeside: true,
  rootNames: null,
  isStrict: false,
};

const FORMS: Record<SchemaTarget, TargetForm> = {
  openai: WIDE,
  // "Property keys should match pattern" is asked of the root alone.
  anthropic: { ...WIDE, rootNames: /^[a-zA-Z0-9_.-]{1,64}$/ },
  // OpenAI's guide to structured outputs has it under "Supported schemas".
  'openai-strict': {
    keywords: words(
      SHAPE,
      '$ref $defs format pattern exclusiveMinimum exclusiveMaximum multipleOf additionalProperties',
    ),
    refs: 'alone',
    typeLists: 'any',
    enumTypes: words('string number integer boolean null'),
    formats: words('date-time time date duration email hostname ipv4 ipv6 uuid'),
    unionsBeside: false,
    rootNames: null,
    isStrict: true,
  },
  // The reference of `responseJsonSchema` lists the keywords; references and
  // `additionalProperties` are refused by older models.
  gemini: {
    keywords: words(SHAPE, 'format'),
    refs: 'inline',
    typeLists: 'nullable',
    enumTypes: words('string number integer'),
    formats: words('date-time date time'),
    unionsBeside: false,
    rootNames: null,
    isStrict: false,
  },
  // Chat templates read `type` as one word; grammars refuse patterns without anchors.
  conservative: {
    keywords: words(SHAPE, 'default minLength maxLength'),
    refs: 'inline',
    typeLists: 'none',
    enumTypes: words('string number integer boolean'),
    formats: new Set(),
    unionsBeside: false,
    rootNames: null,
    isStrict: false,
  },
};

export const formOf = (target: SchemaTarget): TargetForm => FORMS[target];

/** A part of a schema as it was sent, or as it is being made. Nothing in it is sure to be of its kind. */
export type Schema = Readonly<Record<string, unknown>>;

/** The schemas that references have led to on the way to a part, the same one perhaps more than once. */
export type Open = readonly Schema[];

const MOST_PARTS = 1_000;
const MOST_WARNINGS = 20;

/** One normalization, with what it has found so far. */
export class NormalRun {
  readonly root: Schema;
  readonly form: TargetForm;
  /** References lead to these schemas: each has its name in `$defs`. */
  readonly names = new Map<Schema, string>();
  readonly warnings = new Set<string>();
  refusal: string | undefined;
  /** Parts that may still be made: references written out can grow beyond any bound. */
  partsLeft = MOST_PARTS;

  constructor(root: Schema, form: TargetForm) {
    this.root = root;
    this.form = form;
  }

  warn(warning: string): void {
    if (this.warnings.size < MOST_WARNINGS) this.warnings.add(warning);
  }
}

export const asSchema = (value: unknown): Schema => (isRecord(value) ? value : {});
export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const asTexts = (value: unknown): readonly string[] =>
  asList(value).filter((one) => typeof one === 'string');

export const typesOf = (type: unknown): readonly TypeWord[] => {
  const given: readonly unknown[] = Array.isArray(type) ? type : [type];
  return TYPE_WORDS.filter((word) => given.includes(word));
};

export function typeOfValue(value: unknown, isWhole = Number.isInteger(value)): TypeWord {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'number') return isWhole ? 'integer' : 'number';
  return 'object';
}
