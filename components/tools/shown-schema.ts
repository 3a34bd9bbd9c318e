import { isRecord } from '#lib/json/is-record';

type Schema = Readonly<Record<string, unknown>>;

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number';
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isScalars = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one) => isText(one) || isNumber(one));

/**
 * What a form reads of a schema, and how each keyword must be for that. Without `minItems`: a form
 * library fills a list up to it, and 1e9 of them take the tab down.
 */
const READ_BY_FORM: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ...['type', 'title', 'description', 'format', 'pattern'].map((one) => [one, isText] as const),
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'].map(
    (one) => [one, isNumber] as const,
  ),
  ...['minLength', 'maxLength', 'maxItems'].map((one) => [one, isNumber] as const),
  ...['readOnly', 'writeOnly', 'deprecated'].map((one) => [one, isFlag] as const),
  ['required', isTexts],
  ['enum', isScalars],
  ['examples', isScalars],
]);

/**
 * The keywords of one schema that a form may read (RV3). Schemas come from
 * others, and the form draws what it finds: what is not of its type is left out.
 */
export const shownKeywords = (schema: Schema): Schema =>
  Object.fromEntries([
    ...Object.entries(schema).filter(([keyword, value]) => READ_BY_FORM.get(keyword)?.(value)),
    // Of any type; whether it fits the field is for the plan.
    ...Object.entries(schema).filter(
      ([keyword, value]) => keyword === 'default' && canFormHold(value),
    ),
  ]);

/** Whether a plain field for that schema can show the value as what it is. */
export function fitsPlainField(value: unknown, schema: unknown): boolean {
  if (!isRecord(schema)) return false;
  switch (schema.type) {
    case 'string':
      return typeof value === 'string';
    case 'number':
    case 'integer':
      return typeof value === 'number';
    case 'boolean':
      return typeof value === 'boolean';
    case 'array':
      return Array.isArray(value) && value.every((item) => fitsPlainField(item, schema.items));
    case 'object':
      return isRecord(value) && fitsFields(value, schema.properties);
    default:
      return false;
  }
}

const fitsFields = (value: Schema, properties: unknown): boolean =>
  isRecord(properties) &&
  Object.entries(value).every(
    ([name, one]) => !Object.hasOwn(properties, name) || fitsPlainField(one, properties[name]),
  );

/** A name that every object has: a form would find a function where nothing was given. */
export const isNameOfEveryObject = (name: string): boolean => name in Object.prototype;

/**
 * Whether a form can hold the value. A key `constructor` in it makes the form
 * library find each value different from itself, and draw for ever.
 */
export function canFormHold(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(canFormHold);
  return Object.entries(value).every(
    ([name, one]) => !isNameOfEveryObject(name) && canFormHold(one),
  );
}
