import { isRecord } from '../json/is-record.ts';

export type Keywords = Readonly<Record<string, unknown>>;

/** Null is a value of these; any other keyword that is null, as Go writes it, is left out. */
const MAY_BE_NULL = new Set(['const', 'default', 'example', 'examples']);
const MAPS = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
const IN_PLACE = ['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'dependentSchemas'];
const NUMBERS = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
];

type Rewrite = (schema: Record<string, unknown>) => void;

/** Older drafts, OpenAPI and generators write a few things otherwise; each of these reads one. */
const REWRITES: readonly Rewrite[] = [
  leaveOutNulls,
  readTypeWords,
  readNumbers,
  readBooleanBounds,
  readTuples,
  readDependencies,
  readReferences,
  readUnevaluated,
];

/** Reads one part of a schema, of any draft, as draft 2020-12 writes it. What it cannot read stays. */
export function modernKeywords(schema: Keywords): Keywords {
  const modern = { ...schema };
  for (const rewrite of REWRITES) rewrite(modern);
  return modern;
}

/** An empty map is a list to languages that have one type for both. */
function leaveOutNulls(schema: Record<string, unknown>): void {
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === null && !MAY_BE_NULL.has(keyword)) delete schema[keyword];
    if (Array.isArray(value) && value.length === 0 && MAPS.includes(keyword))
      delete schema[keyword];
  }
}

function readTypeWords(schema: Record<string, unknown>): void {
  const { type } = schema;
  const words: readonly unknown[] = Array.isArray(type) ? type : [type];
  const known = words.map((word) => (typeof word === 'string' ? word.toLowerCase() : word));
  // Draft 3 has a word for any type.
  if (known.includes('any')) delete schema.type;
  else if (type !== undefined) schema.type = Array.isArray(type) ? known : known[0];
}

function readNumbers(schema: Record<string, unknown>): void {
  for (const keyword of NUMBERS) {
    const value = schema[keyword];
    if (typeof value !== 'string' || value.trim() === '') continue;
    if (Number.isFinite(Number(value))) schema[keyword] = Number(value);
  }
}

/** In draft 4 and OpenAPI 3.0 `exclusiveMinimum` says of `minimum` that it is excluded. */
function readBooleanBounds(schema: Record<string, unknown>): void {
  for (const [exclusive, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    const isExcluded = schema[exclusive];
    if (typeof isExcluded !== 'boolean') continue;
    delete schema[exclusive];
    if (!isExcluded || schema[bound] === undefined) continue;
    schema[exclusive] = schema[bound];
    delete schema[bound];
  }
}

/** Drafts before 2020-12, and zod 3, have the first items as a list in `items`, the rest in `additionalItems`. */
function readTuples(schema: Record<string, unknown>): void {
  const { items, additionalItems } = schema;
  delete schema.additionalItems;
  if (!Array.isArray(items) || schema.prefixItems !== undefined) return;
  delete schema.items;
  if (items.length > 0) schema.prefixItems = items;
  if (additionalItems !== undefined) schema.items = additionalItems;
}

/** Drafts before 2019-09 have names and schemas under one keyword. */
function readDependencies(schema: Record<string, unknown>): void {
  const { dependencies, dependentRequired, dependentSchemas } = schema;
  // Where both are written, which of them is meant is not plain.
  if (!isRecord(dependencies) || (dependentRequired ?? dependentSchemas) !== undefined) return;
  const entries = Object.entries(dependencies);
  const names = entries.filter(([, one]) => Array.isArray(one));
  const schemas = entries.filter(([, one]) => !Array.isArray(one));
  delete schema.dependencies;
  const add = (keyword: string, own: unknown, more: typeof entries) => {
    if (more.length > 0) schema[keyword] = { ...Object.fromEntries(more), ...Object(own) };
  };
  add('dependentRequired', dependentRequired, names);
  add('dependentSchemas', dependentSchemas, schemas);
}

/** Within one document these lead where a plain reference does. */
function readReferences(schema: Record<string, unknown>): void {
  for (const keyword of ['$dynamicRef', '$recursiveRef']) {
    if (schema.$ref !== undefined || schema[keyword] === undefined) continue;
    schema.$ref = schema[keyword];
    delete schema[keyword];
  }
}

/** Where no other schema holds for the same value, the rest is what `properties` and `prefixItems` leave. */
function readUnevaluated(schema: Record<string, unknown>): void {
  for (const [keyword, rest, looks] of [
    ['unevaluatedProperties', 'additionalProperties', IN_PLACE],
    ['unevaluatedItems', 'items', [...IN_PLACE, 'contains']],
  ] as const) {
    const value = schema[keyword];
    const isAllSeen = schema[rest] !== undefined || value === true;
    if (value === undefined || (!isAllSeen && looks.some((one) => schema[one] !== undefined))) {
      continue;
    }
    delete schema[keyword];
    if (!isAllSeen) schema[rest] = value;
  }
}
