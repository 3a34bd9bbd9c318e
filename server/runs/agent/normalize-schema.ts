import type { JSONSchema7 } from '@ai-sdk/provider';
import { isRecord } from '#lib/json/is-record';
import { LIMITS } from '#lib/protocol/limits';

type Schema = Record<string, unknown>;

/** What OpenAI refuses at the root of a function's parameters. */
const REFUSED_AT_ROOT = ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', 'if', 'then', 'else'];
/** Of use to validators only, and refused by some APIs. */
const DROPPED = new Set(['$schema', '$id', '$comment', '$anchor', '$dynamicAnchor', '$vocabulary']);
/** Keywords whose value maps names to schemas: the names are no keywords. */
const MAPS = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);
/** Keywords whose value is data, not a schema. */
const DATA = new Set(['enum', 'const', 'default', 'examples', 'required']);

/**
 * A tool's schema in the form that model APIs accept (rules AL30 to AL34):
 * an object at the root, local references only. It only ever loosens, as the
 * call service checks the arguments against the tool's own schema anyway.
 */
export function normalizeSchema(schema: unknown): JSONSchema7 {
  const root = cleanSchema(schema, 0);
  const merged = mergeRootUnions(root);
  for (const key of REFUSED_AT_ROOT) delete merged[key];
  // An adapter's cast: what a client sent is passed on, loosened, to be judged by the API.
  return { ...merged, type: 'object', properties: merged.properties } as JSONSchema7;
}

function cleanSchema(schema: unknown, depth: number): Schema {
  const source = asSchema(schema);
  // `true` and `false` are schemas too; an API wants an object.
  if (!source || depth > LIMITS.jsonDepth) return {};
  const clean: Schema = {};
  for (const [key, value] of Object.entries(source)) {
    if (DROPPED.has(key) || value === undefined) continue;
    if (key === '$ref' && !isLocal(value)) continue;
    clean[key] = cleanValue(key, value, depth);
  }
  // OpenAI refuses an array that does not say what it holds.
  if (clean.type === 'array' && clean.items === undefined) clean.items = {};
  return clean;
}

function cleanValue(key: string, value: unknown, depth: number): unknown {
  if (DATA.has(key)) return value;
  if (MAPS.has(key)) {
    const entries = Object.entries(asSchema(value) ?? {});
    return Object.fromEntries(entries.map(([name, one]) => [name, cleanSchema(one, depth + 1)]));
  }
  if (Array.isArray(value)) {
    return value.map((one) => (asSchema(one) ? cleanSchema(one, depth + 1) : one));
  }
  return asSchema(value) ? cleanSchema(value, depth + 1) : value;
}

/** Keeps the properties that a root union names; only those of `allOf` can be required. */
function mergeRootUnions(root: Schema): Schema {
  const properties = { ...asSchema(root.properties) };
  const required = new Set(strings(root.required));
  for (const key of ['allOf', 'anyOf', 'oneOf'] as const) {
    for (const branch of list(root[key])) {
      const part = asSchema(branch);
      for (const [name, one] of Object.entries(asSchema(part?.properties) ?? {})) {
        properties[name] ??= one;
      }
      if (key === 'allOf') for (const name of strings(part?.required)) required.add(name);
    }
  }
  const known = [...required].filter((name) => Object.hasOwn(properties, name));
  const { required: _, ...rest } = root;
  return { ...rest, properties, ...(known.length > 0 ? { required: known } : {}) };
}

const isLocal = (ref: unknown): boolean => typeof ref === 'string' && ref.startsWith('#');
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const strings = (value: unknown): string[] => list(value).filter((one) => typeof one === 'string');

const asSchema = (value: unknown): Schema | undefined => (isRecord(value) ? value : undefined);
