import type { Schema } from './normal-run.ts';
import type { TargetForm } from './schema-target.ts';
import { typeOfValue, typesOf } from './split-values.ts';

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number';
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const isAny = (): boolean => true;

/** Keywords whose value is no schema, and the kind that it has. */
const PLAIN: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ...['title', 'description', 'format', 'pattern', 'contentEncoding', 'contentMediaType'].map(
    (keyword) => [keyword, isText] as const,
  ),
  ...[
    ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
    ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
  ].map((keyword) => [keyword, isNumber] as const),
  ...['uniqueItems', 'deprecated', 'readOnly', 'writeOnly'].map(
    (keyword) => [keyword, isFlag] as const,
  ),
  ['type', (value) => typesOf(value).length > 0],
  ['enum', Array.isArray],
  ['examples', Array.isArray],
  ['const', isAny],
  ['default', isAny],
]);

const BESIDE_A_UNION = new Set(['title', 'description', 'default']);

/** Those that the target accepts as they are; beside a union that stands alone, only words about it. */
export function plainKeywords(form: TargetForm, keywords: Schema, isUnionAlone: boolean): Schema {
  const kept = Object.entries(keywords).filter(
    ([keyword, value]) =>
      value !== undefined &&
      form.keywords.has(keyword) &&
      PLAIN.get(keyword)?.(value) === true &&
      (!isUnionAlone || BESIDE_A_UNION.has(keyword)) &&
      isAcceptedValue(form, keyword, value),
  );
  return Object.fromEntries(kept);
}

function isAcceptedValue({ formats, enumTypes }: TargetForm, keyword: string, value: unknown) {
  if (keyword === 'format') return formats === null || formats.has(String(value));
  if (keyword !== 'enum' || enumTypes === null || !Array.isArray(value)) return true;
  // An empty text among the values is refused by some.
  return value.every((one) => one !== '' && enumTypes.has(typeOfValue(one)));
}
