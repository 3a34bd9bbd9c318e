import { isOfType } from '#lib/schema/check-scalar';
import { TYPE_WORDS, type TypeWord } from '#lib/schema/schema-node';

/** The rules of each target for the schemas of tools. `conservative`: servers of every kind take it. */
export type SchemaTarget = 'openai' | 'openai-strict' | 'anthropic' | 'gemini' | 'conservative';

/** A target accepts this in the schema of a tool, beside the keywords of its dialect. */
export interface TargetForm {
  readonly dialect: 'wide' | 'strict' | 'gemini' | 'conservative';
  /** `type` may be a list of words. */
  readonly hasTypeLists: boolean;
  /** `enum` may have values of these types; without it they may be mixed and of any type. */
  readonly enumTypes?: ReadonlySet<TypeWord>;
  /** These values of `format` are accepted; without it any. */
  readonly formats?: ReadonlySet<string>;
  /** The root's properties may have these names; without it any. */
  readonly rootNames?: RegExp;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

export const TARGETS: Readonly<Record<SchemaTarget, TargetForm>> = {
  // OpenAI and Anthropic publish JSON Schema 2020-12, but for what their roots refuse.
  openai: { dialect: 'wide', hasTypeLists: true },
  // "Property keys should match pattern" is asked of the root alone.
  anthropic: { dialect: 'wide', hasTypeLists: true, rootNames: /^[a-zA-Z0-9_.-]{1,64}$/ },
  // OpenAI's guide to structured outputs has it under "Supported schemas".
  'openai-strict': {
    dialect: 'strict',
    hasTypeLists: true,
    enumTypes: new Set(['string', 'number', 'integer', 'boolean']),
    formats: words('date-time time date duration email hostname ipv4 ipv6 uuid'),
  },
  // The reference of `responseJsonSchema` lists the keywords; references and
  // `additionalProperties` are refused by older models.
  gemini: {
    dialect: 'gemini',
    hasTypeLists: false,
    enumTypes: new Set(['string', 'number', 'integer']),
    formats: words('date-time date time'),
  },
  // Chat templates read `type` as one word; grammars refuse patterns without anchors.
  conservative: {
    dialect: 'conservative',
    hasTypeLists: false,
    enumTypes: new Set(['string', 'number', 'integer', 'boolean']),
  },
};

/** A keyword holds plain data, or schemas in one of four ways, or is made apart from the others. */
type Kind = TypeWord | 'any' | 'part' | 'parts' | 'map' | 'others' | 'apart';

interface Keyword {
  readonly kind: Kind;
  /** It says something about values of this type alone; for all others it is null. */
  readonly about: TypeWord | null;
  readonly takenBy: ReadonlySet<string>;
  /** What it says goes into the description where it is not taken. */
  readonly isDescribed: boolean;
}

const ALL = 'wide strict gemini conservative';

type Row = readonly [Kind, TypeWord | null, keywords: string, takenBy: string, more?: 'described'];

const ROWS: readonly Row[] = [
  ['string', null, 'title description', ALL],
  ['any', null, 'type', ALL],
  ['array', null, 'enum', ALL, 'described'],
  ['apart', null, 'anyOf', ALL, 'described'],
  ['apart', null, '$ref $defs', 'wide strict'],
  ['any', null, 'const', 'wide', 'described'],
  ['any', null, 'default', 'wide conservative', 'described'],
  ['array', null, 'examples', 'wide'],
  ['boolean', null, 'deprecated readOnly writeOnly', 'wide'],
  ['map', 'object', 'properties', ALL],
  ['apart', 'object', 'required', ALL],
  ['others', 'object', 'additionalProperties', 'wide strict', 'described'],
  ['map', 'object', 'patternProperties', 'wide', 'described'],
  ['part', 'object', 'propertyNames', 'wide', 'described'],
  ['number', 'object', 'minProperties maxProperties', 'wide', 'described'],
  ['part', 'array', 'items', ALL],
  ['parts', 'array', 'prefixItems', 'wide'],
  ['number', 'array', 'minItems maxItems', ALL, 'described'],
  ['boolean', 'array', 'uniqueItems', 'wide', 'described'],
  ['number', 'number', 'minimum maximum', ALL, 'described'],
  ['number', 'number', 'exclusiveMinimum exclusiveMaximum multipleOf', 'wide strict', 'described'],
  ['string', 'string', 'format', 'wide strict gemini', 'described'],
  ['string', 'string', 'pattern', 'wide strict', 'described'],
  ['number', 'string', 'minLength maxLength', 'wide conservative', 'described'],
  ['string', 'string', 'contentEncoding contentMediaType', 'wide'],
  ['apart', null, 'not if then else dependentRequired dependentSchemas', '', 'described'],
];

/** The table by keyword. What is not here is for validators, and goes. */
export const KEYWORDS: ReadonlyMap<string, Keyword> = new Map(
  ROWS.flatMap(([kind, about, keywords, takenBy, more]) =>
    keywords
      .split(' ')
      .map((one) => [
        one,
        { kind, about, takenBy: words(takenBy), isDescribed: more === 'described' },
      ]),
  ),
);

export const isTaken = ({ dialect }: TargetForm, keyword: string): boolean =>
  KEYWORDS.get(keyword)?.takenBy.has(dialect) ?? false;

/** A value that is no schema, as the target takes it under this keyword. */
export function isTakenValue(form: TargetForm, keyword: string, value: unknown): boolean {
  const { formats, enumTypes } = form;
  const kind = KEYWORDS.get(keyword)?.kind;
  if (keyword === 'format' && formats?.has(String(value)) === false) return false;
  // An empty text among the values is refused by some.
  if (keyword === 'enum' && enumTypes && Array.isArray(value))
    return value.every((one) => one !== '' && enumTypes.has(typeOfValue(one)));
  return kind === 'any' || TYPE_WORDS.some((word) => word === kind && isOfType(value, word));
}

const NARROW_FIRST = ['null', 'array', 'string', 'boolean', 'integer', 'number'] as const;

export const typeOfValue = (value: unknown): TypeWord =>
  NARROW_FIRST.find((word) => isOfType(value, word)) ?? 'object';
