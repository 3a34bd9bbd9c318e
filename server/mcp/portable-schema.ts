import { isRecord } from '#lib/json/is-record';

type InputSchema = { readonly type: 'object' } & Readonly<Record<string, unknown>>;

/** What validators know by its name, and do not fetch. */
const DIALECT = /^https?:\/\/json-schema\.org\//;

/** Deeper than any schema that the registry takes. */
const MOST_DEEP = 64;

/**
 * A schema that a stranger wrote, as any host can take it: an object at the root, no reference
 * that a host would fetch, and no word that puts arguments into HTTP headers
 * (`x-mcp-header`, MCP 2026-07-28). The schema itself is checked here when a call comes.
 */
export const portableSchema = (schema: Readonly<Record<string, unknown>>): InputSchema => ({
  ...cleanMembers(schema, MOST_DEEP),
  type: 'object',
});

function clean(value: unknown, left: number): unknown {
  if (left === 0) return {};
  if (Array.isArray(value)) return value.map((one) => clean(one, left - 1));
  return isRecord(value) ? cleanMembers(value, left) : value;
}

const cleanMembers = (schema: Readonly<Record<string, unknown>>, left: number) =>
  Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => isPortable(key, value))
      .map(([key, value]) => [key, clean(value, left - 1)]),
  );

function isPortable(key: string, value: unknown): boolean {
  if (key === 'x-mcp-header') return false;
  // A property may have such a name: then its value is a schema.
  if (typeof value !== 'string') return true;
  if (key === '$schema') return DIALECT.test(value);
  return (key !== '$ref' && key !== '$dynamicRef') || value.startsWith('#');
}
