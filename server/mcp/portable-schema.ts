import { isRecord } from '#lib/json/is-record';

type InputSchema = { readonly type: 'object' } & Readonly<Record<string, unknown>>;

/** What validators know by its name, and do not fetch. */
const DIALECT = /^https?:\/\/json-schema\.org\//;

/** Deeper than any schema that the registry takes. */
const MOST_DEEP = 64;

/** Keywords whose value is a schema, or a list of them. */
const SCHEMAS: ReadonlySet<string> = new Set([
  ...['items', 'prefixItems', 'propertyNames', 'allOf', 'anyOf', 'oneOf', 'not'],
  ...['if', 'then', 'else'],
]);
/** Keywords whose value has schemas under names of the author's. */
const NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  ...['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'],
]);

/**
 * A schema that a stranger wrote, as any host can take it: an object at the root, no schema that is
 * `true` or `false` but where hosts expect that, no reference that a host would fetch, and no word
 * that puts arguments into HTTP headers (`x-mcp-header`, MCP 2026-07-28). The schema itself is
 * checked here when a call comes.
 */
export const portableSchema = (schema: Readonly<Record<string, unknown>>): InputSchema => ({
  ...cleanMembers(schema, MOST_DEEP),
  type: 'object',
});

function cleanSchema(value: unknown, left: number): unknown {
  if (left <= 0) return {};
  if (Array.isArray(value)) return value.map((one) => cleanSchema(one, left - 1));
  return isRecord(value) ? cleanMembers(value, left) : toObject(value);
}

const cleanMembers = (schema: Readonly<Record<string, unknown>>, left: number) =>
  Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => isPortable(key, value))
      .map(([key, value]) => [key, cleanMember(key, value, left - 1)]),
  );

function cleanMember(key: string, value: unknown, left: number): unknown {
  if (NAMED_SCHEMAS.has(key) && isRecord(value)) {
    const named = Object.entries(value);
    return Object.fromEntries(named.map(([name, one]) => [name, cleanSchema(one, left - 1)]));
  }
  if (SCHEMAS.has(key)) return cleanSchema(value, left);
  if (key === 'additionalProperties' && isRecord(value)) return cleanSchema(value, left);
  return cleanValue(value, left);
}

/** What is no schema, or is one only for a reference to it. */
function cleanValue(value: unknown, left: number): unknown {
  if (left <= 0) return {};
  if (Array.isArray(value)) return value.map((one) => cleanValue(one, left - 1));
  if (!isRecord(value)) return value;
  const members = Object.entries(value).filter(([key, one]) => isPortable(key, one));
  return Object.fromEntries(members.map(([key, one]) => [key, cleanValue(one, left - 1)]));
}

function toObject(schema: unknown): unknown {
  if (typeof schema !== 'boolean') return schema;
  return schema ? {} : { not: {} };
}

function isPortable(key: string, value: unknown): boolean {
  if (key === 'x-mcp-header') return false;
  // A property may have such a name: then its value is a schema.
  if (typeof value !== 'string') return true;
  if (key === '$schema') return DIALECT.test(value);
  return (key !== '$ref' && key !== '$dynamicRef') || value.startsWith('#');
}
