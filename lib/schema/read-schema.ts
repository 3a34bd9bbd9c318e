import { isRecord } from '../json/is-record.ts';
import { given } from '../util/given.ts';
import {
  readConst,
  readCount,
  readEnum,
  readFlag,
  readList,
  readNames,
  readNamesOf,
  readNumber,
  readPositive,
  readRecord,
  readText,
  readTypes,
} from './read-keyword.ts';
import type { SchemaNode } from './schema-node.ts';
import {
  createSchemaReader,
  refuse,
  resolveRef,
  type SchemaReader,
  type SchemaRefusal,
  take,
  takePattern,
} from './schema-reader.ts';

/**
 * The JSON Schema that a tool may use: a subset of 2020-12, documented in
 * docs/tool-schemas.md. A keyword that is in no list here is an annotation, as
 * JSON Schema has it (section 6.5 of its core): it is kept and checks nothing.
 */

/** Their value is a list of schemas. */
const SCHEMA_LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'] as const;
/** Their value is one schema. */
const SCHEMAS = ['not', 'items', 'additionalProperties', 'propertyNames'] as const;
/** Their value is one schema, which says what else holds for the same value. */
const CONDITIONS = ['if', 'then', 'else'] as const;
/** Their value maps names to schemas that a `$ref` may point to. */
const DEFINITIONS = ['$defs', 'definitions'] as const;
const NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const;
const COUNTS = [
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
] as const;

/** All keywords that are checked, those above included. */
export const CHECKED_KEYWORDS = [
  ...['type', 'enum', 'const', '$ref', ...DEFINITIONS],
  ...['properties', 'patternProperties', 'required'],
  ...SCHEMAS,
  ...SCHEMA_LISTS,
  ...[...CONDITIONS, 'dependentRequired', 'dependentSchemas'],
  ...NUMBERS,
  ...['multipleOf', 'pattern', 'format', 'uniqueItems'],
  ...COUNTS,
];

/** Annotations that programs read, by the kind of their value; another kind is refused. `default` may be any value. */
const ANNOTATION_TEXTS = [
  ...['title', 'description', '$comment', '$id', '$schema', '$anchor'],
  ...['contentEncoding', 'contentMediaType'],
];
const ANNOTATION_FLAGS = ['deprecated', 'readOnly', 'writeOnly', 'x-sensitive'];

const ITEMS = 'write "items", and "prefixItems" for the first ones';

/** Keywords that would have to be checked and are not, with what to write instead. */
export const REFUSED_KEYWORDS: ReadonlyMap<string, string> = new Map([
  ['dependencies', 'write "dependentRequired" for lists of names, "dependentSchemas" for schemas'],
  ['unevaluatedProperties', 'write all properties in one schema with "additionalProperties"'],
  ...['unevaluatedItems', 'additionalItems'].map((keyword) => [keyword, ITEMS] as const),
  ...['contains', 'minContains', 'maxContains'].map((keyword) => [keyword, ITEMS] as const),
  ...['$dynamicRef', '$recursiveRef'].map(
    (keyword) => [keyword, 'write "$ref" with a place in the schema (#/$defs/…)'] as const,
  ),
  ['nullable', 'write "type": ["string", "null"]'],
]);

type Schema = Readonly<Record<string, unknown>>;

/**
 * Reads a schema of limited depth into a graph of nodes. Look at `refusal`
 * first. References wait in a queue, so that a long chain of them needs no deep stack.
 */
export function readSchema(root: unknown): {
  node: SchemaNode;
  refusal: SchemaRefusal | undefined;
} {
  const reader = createSchemaReader(root);
  const node = readNode(reader, root);
  for (let next = reader.pending.pop(); next; next = reader.pending.pop()) {
    next.from.ref = readNode(reader, next.target);
  }
  return { node, refusal: reader.refusal };
}

function readNode(reader: SchemaReader, schema: unknown): SchemaNode {
  if (typeof schema === 'boolean') return { always: schema };
  const known = reader.nodes.get(schema);
  if (known) return known;
  const node: SchemaNode = {};
  if (reader.refusal) return node;
  if (!isRecord(schema)) {
    refuse(reader, 'schema_invalid', 'Each part of the schema must be an object, true or false.');
    return node;
  }
  reader.nodes.set(schema, node);
  const outer = reader.place;
  reader.place = schema;
  const read = withPrefixItems(schema);
  refuseKeywords(reader, read);
  checkAnnotations(reader, read);
  readScalars(reader, read, node);
  readSubschemas(reader, read, node);
  reader.place = outer;
  return node;
}

/** A tuple as drafts before 2020-12 have it, and zod 3 writes it: a list in `items`, the rest in `additionalItems`. */
function withPrefixItems(schema: Schema): Schema {
  if (!Array.isArray(schema.items) || Object.hasOwn(schema, 'prefixItems')) return schema;
  const { items: prefixItems, additionalItems: items, ...rest } = schema;
  return { ...rest, prefixItems, ...given({ items }) };
}

/** What is left out of the check would accept what the schema's author forbids. */
function refuseKeywords(reader: SchemaReader, schema: Schema): void {
  for (const [keyword, instead] of REFUSED_KEYWORDS) {
    if (!Object.hasOwn(schema, keyword)) continue;
    const supported = CHECKED_KEYWORDS.join(', ');
    const message = `The keyword "${keyword}" is not supported: ${instead}. Supported are ${supported}.`;
    refuse(reader, 'schema_keyword', message, { keyword });
  }
}

/** They check nothing, and are shown: a value that is not text would break the page that shows it. */
function checkAnnotations(reader: SchemaReader, schema: Schema): void {
  for (const keyword of ANNOTATION_TEXTS) take(reader, schema, keyword, readText);
  for (const keyword of ANNOTATION_FLAGS) take(reader, schema, keyword, readFlag);
  take(reader, schema, 'examples', readList);
  take(reader, schema, '$vocabulary', readRecord);
}

function readScalars(reader: SchemaReader, schema: Schema, node: SchemaNode): void {
  const source = take(reader, schema, 'pattern', readText);
  const values = take(reader, schema, 'enum', readEnum);
  const own: SchemaNode = given({
    types: take(reader, schema, 'type', readTypes),
    allowed: take(reader, schema, 'const', readConst) ?? values,
    multipleOf: take(reader, schema, 'multipleOf', readPositive),
    pattern: source === undefined ? undefined : takePattern(reader, source),
    format: take(reader, schema, 'format', readText),
    required: take(reader, schema, 'required', readNames),
    uniqueItems: take(reader, schema, 'uniqueItems', readFlag),
    sensitive: take(reader, schema, 'x-sensitive', readFlag),
  });
  Object.assign(node, own);
  for (const keyword of NUMBERS) {
    const bound = take(reader, schema, keyword, readNumber);
    if (bound !== undefined) node[keyword] = bound;
  }
  for (const keyword of COUNTS) {
    const count = take(reader, schema, keyword, readCount);
    if (count !== undefined) node[keyword] = count;
  }
}

function readSubschemas(reader: SchemaReader, schema: Schema, node: SchemaNode): void {
  const ref = take(reader, schema, '$ref', readText);
  const target = ref === undefined ? undefined : resolveRef(reader, ref);
  if (target !== undefined) reader.pending.push({ from: node, target });
  for (const keyword of SCHEMA_LISTS) {
    const list = take(reader, schema, keyword, readList);
    if (list?.length === 0) {
      refuse(reader, 'schema_invalid', `"${keyword}" in the schema must not be empty.`);
    }
    if (list) node[keyword] = list.map((one) => readNode(reader, one));
  }
  for (const keyword of SCHEMAS) {
    if (Array.isArray(schema[keyword])) {
      const message = `"${keyword}" in the schema must be one schema, was a list; schemas of single items belong in "prefixItems".`;
      refuse(reader, 'schema_invalid', message, { keyword });
    } else if (Object.hasOwn(schema, keyword)) node[keyword] = readNode(reader, schema[keyword]);
  }
  readConditions(reader, schema, node);
  const properties = readMap(reader, schema, 'properties');
  if (properties) node.properties = properties;
  const byPattern = readMap(reader, schema, 'patternProperties');
  if (byPattern) {
    node.patternProperties = [...byPattern].flatMap(([source, one]) => {
      const pattern = takePattern(reader, source);
      return pattern ? [{ pattern, node: one }] : [];
    });
  }
  // Definitions that nothing refers to are read too, so that a bad one is refused.
  for (const keyword of DEFINITIONS) readMap(reader, schema, keyword);
}

/** `then` and `else` say nothing without `if`; they are read, so that a bad one is refused. */
function readConditions(reader: SchemaReader, schema: Schema, node: SchemaNode): void {
  const [condition, whenMet, whenNot] = CONDITIONS.map((keyword) =>
    Object.hasOwn(schema, keyword) ? readNode(reader, schema[keyword]) : undefined,
  );
  if (condition) Object.assign(node, given({ condition, whenMet, whenNot }));
  const bySchema = readMap(reader, schema, 'dependentSchemas');
  if (bySchema) node.dependentSchemas = bySchema;
  const byName = take(reader, schema, 'dependentRequired', readNamesOf);
  if (byName) node.dependentRequired = byName;
}

function readMap(reader: SchemaReader, schema: Schema, keyword: string) {
  const record = take(reader, schema, keyword, readRecord);
  return (
    record && new Map(Object.entries(record).map(([key, one]) => [key, readNode(reader, one)]))
  );
}
