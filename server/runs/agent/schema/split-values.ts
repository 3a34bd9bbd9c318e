import { canonicalJson } from '#lib/json/equal';
import { isRecord } from '#lib/json/is-record';
import type { TypeWord } from '#lib/schema/schema-node';
import {
  asList,
  asSchema,
  type Schema,
  type TargetForm,
  typeOfValue,
  typesOf,
} from './schema-target.ts';

/** Keywords by the type of the values that they say something about. */
const OF_NUMBER = 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf';
const KEYWORDS_OF: Partial<Record<TypeWord, string>> = {
  string: 'minLength maxLength pattern format contentEncoding contentMediaType',
  number: OF_NUMBER,
  integer: OF_NUMBER,
  array: 'items prefixItems minItems maxItems uniqueItems',
  object:
    'properties required additionalProperties patternProperties propertyNames minProperties maxProperties',
};
const keywordsOf = (type: TypeWord): readonly string[] => KEYWORDS_OF[type]?.split(' ') ?? [];

/** Says it in words that the form has: one type for each part, and values that its `enum` may have. */
export const splitValues = (form: TargetForm, keywords: Schema): Schema =>
  splitTypes(form, splitEnum(form, gatherConstants(form, keywords)));

/** `anyOf` of constants, as generators write a list of words that each have a title, as `enum`. */
function gatherConstants({ enumTypes }: TargetForm, keywords: Schema): Schema {
  const { anyOf, ...rest } = keywords;
  const branches = asList(anyOf);
  if (enumTypes === null || branches.length === 0 || !branches.every(isConstant)) return keywords;
  if (rest.enum !== undefined || rest.const !== undefined) return rest;
  return { ...rest, enum: branches.flatMap((one) => [...valuesOf(asSchema(one))]) };
}

const isConstant = (branch: unknown): boolean =>
  isRecord(branch) &&
  (Object.hasOwn(branch, 'const') || (Array.isArray(branch.enum) && branch.enum.length > 0)) &&
  Object.keys(branch).every((key) =>
    ['const', 'enum', 'type', 'title', 'description'].includes(key),
  );

const valuesOf = (keywords: Schema): readonly unknown[] =>
  Object.hasOwn(keywords, 'const') ? [keywords.const] : asList(keywords.enum);

function splitEnum(form: TargetForm, keywords: Schema): Schema {
  const { enumTypes } = form;
  const values = unique(valuesOf(keywords));
  const { const: _, enum: __, ...rest } = keywords;
  if (values.length === 0) return rest;
  if (enumTypes === null) {
    return Object.hasOwn(keywords, 'const')
      ? { ...keywords, enum: undefined }
      : { ...rest, enum: values };
  }
  const groups = groupByType(values);
  if (form.typeLists === 'any' && groups.every(([type]) => enumTypes.has(type))) {
    const types = groups.map(([type]) => type);
    return { ...rest, type: types.length === 1 ? types[0] : types, enum: values };
  }
  const parts = groups.map(([type, own]) => (type === 'null' ? { type } : { type, enum: own }));
  const { type: ___, anyOf: ____, ...others } = rest;
  return parts.length === 1 ? { ...others, ...parts[0] } : { ...others, anyOf: parts };
}

const unique = (values: readonly unknown[]): unknown[] => [
  ...new Map(values.map((one) => [canonicalJson(one), one])).values(),
];

function groupByType(values: readonly unknown[]): [TypeWord, unknown[]][] {
  const isWhole = values.every((one) => typeof one !== 'number' || Number.isInteger(one));
  const groups = new Map<TypeWord, unknown[]>();
  for (const value of values) {
    const type = typeOfValue(value, isWhole);
    groups.set(type, [...(groups.get(type) ?? []), value]);
  }
  return [...groups];
}

/** A list of types as one form for each, where the target takes no such list. */
function splitTypes({ typeLists }: TargetForm, keywords: Schema): Schema {
  const { type, ...rest } = keywords;
  const types = [...new Set(typesOf(type))];
  if (types.length === 0) return rest;
  if (types.length === 1) return { ...rest, type: types[0] };
  const isNullable = types.length === 2 && types.includes('null') && rest.enum === undefined;
  if (typeLists === 'any' || (typeLists === 'nullable' && isNullable)) {
    return { ...rest, type: types };
  }
  // The union and the values are kept; they hold whichever type it is.
  if (rest.anyOf !== undefined || rest.enum !== undefined) return rest;
  const taken = new Set(types.flatMap(keywordsOf));
  const shared = Object.entries(rest).filter(([keyword]) => !taken.has(keyword));
  return { ...Object.fromEntries(shared), anyOf: types.map((one) => partOf(rest, one)) };
}

function partOf(keywords: Schema, type: TypeWord): Schema {
  const own = keywordsOf(type).filter((keyword) => keywords[keyword] !== undefined);
  return { type, ...Object.fromEntries(own.map((keyword) => [keyword, keywords[keyword]])) };
}
