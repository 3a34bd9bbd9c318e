import { canonicalJson } from '#lib/json/equal';
import { isRecord } from '#lib/json/is-record';

/** A part of a schema as it was sent, or as it is being made. Nothing in it is sure to be of its kind. */
export type Schema = Readonly<Record<string, unknown>>;

export const asSchema = (value: unknown): Schema => (isRecord(value) ? value : {});
export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const asTexts = (value: unknown) => asList(value).filter((one) => typeof one === 'string');

export const unique = <Value>(values: readonly Value[]): Value[] => [
  ...new Map(values.map((one) => [canonicalJson(one), one])).values(),
];

/** These hold together: those of two schemas are not mixed. */
const TOGETHER = [new Set(['items', 'prefixItems']), new Set(['if', 'then', 'else'])];

/** Those that a merge of two parts goes over. */
export const namesToMerge = (first: Schema, second: Schema): number =>
  ['properties', 'patternProperties'].reduce(
    (sum, map) =>
      sum +
      (isRecord(second[map]) ? Object.keys({ ...second[map], ...asSchema(first[map]) }).length : 0),
    asList(first.required).length + asList(second.required).length,
  );

/** Where two parts name one keyword, or a property, the first counts, so the result only ever accepts more. */
export function merge(first: Schema, second: Schema): Schema {
  const held = TOGETHER.filter((group) => Object.keys(first).some((one) => group.has(one)));
  const others = Object.entries(second).filter(([one]) => !held.some((group) => group.has(one)));
  const merged: Record<string, unknown> = { ...Object.fromEntries(others), ...first };
  for (const map of ['properties', 'patternProperties'])
    if (isRecord(second[map])) merged[map] = { ...second[map], ...asSchema(first[map]) };
  return { ...merged, required: [...asTexts(first.required), ...asTexts(second.required)] };
}

interface FormProperty {
  readonly name: string;
  readonly schema: unknown;
  /** Its form takes no names but its own. */
  readonly isClosed: boolean;
}

export const propertiesOf = (form: Schema): FormProperty[] =>
  Object.entries(asSchema(form.properties)).map(([name, schema]) => ({
    name,
    schema,
    isClosed: isClosed(form),
  }));

/**
 * A property that each form has may be as any of them has it. Where a form leaves the name open it may be
 * anything that it may be anyway; what the other forms have for it stays for the model to read.
 */
export function mergedProperty(having: readonly FormProperty[], more: readonly unknown[]): unknown {
  const options = new Set(having.map(({ schema }) => schema));
  const all = unique([...options, ...more]);
  return all.length === 1 ? all[0] : { anyOf: all };
}

export const isClosed = ({ additionalProperties, patternProperties }: Schema): boolean =>
  additionalProperties === false && !isRecord(patternProperties);
