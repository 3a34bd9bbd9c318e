import { isRecord } from '../json/is-record.ts';
import { ANNOTATIONS } from './annotation-keywords.ts';
import {
  readConst,
  readCount,
  readEnum,
  readFlag,
  readNameMap,
  readNames,
  readNumber,
  readPositive,
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

/** Dynamic references depend on who refers; refused, since ignoring them would accept too much. */
const UNSUPPORTED = ['$dynamicRef', '$recursiveRef'];

/**
 * Reads a schema of limited depth into a graph of nodes. Look at `reader.refusal`
 * afterwards. References wait in a queue, so that a long chain of them needs no deep stack.
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
  for (const keyword of UNSUPPORTED) {
    if (Object.hasOwn(schema, keyword)) {
      refuse(reader, 'schema_ref_unknown', `"${keyword}" is not supported; use a local "$ref".`);
    }
  }
  // They check nothing, and are drawn: what is no text would break the page that shows it.
  for (const [keyword, read] of ANNOTATIONS) take(reader, schema, keyword, read);
  readReferences(reader, schema, node);
  readScalars(reader, schema, node);
  readObjects(reader, schema, node);
  readArrays(reader, schema, node);
  return node;
}

function readReferences(
  reader: SchemaReader,
  schema: Record<string, unknown>,
  node: SchemaNode,
): void {
  const ref = take(reader, schema, '$ref', readText);
  if (ref !== undefined) {
    const target = resolveRef(reader, ref);
    if (target !== undefined) reader.pending.push({ from: node, target });
  }
  for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const) {
    const list = readList(reader, schema, keyword);
    if (list) node[keyword] = list;
  }
  for (const keyword of ['not', 'if', 'then', 'else'] as const) {
    if (Object.hasOwn(schema, keyword)) node[keyword] = readNode(reader, schema[keyword]);
  }
}

function readScalars(
  reader: SchemaReader,
  schema: Record<string, unknown>,
  node: SchemaNode,
): void {
  const types = take(reader, schema, 'type', readTypes);
  if (types) node.types = types;
  const allowed = take(reader, schema, 'enum', readEnum);
  const only = take(reader, schema, 'const', readConst);
  if (only ?? allowed) node.allowed = only ?? allowed ?? { keys: new Set(), text: '' };
  for (const keyword of ['minimum', 'maximum'] as const) {
    const bound = take(reader, schema, keyword, readNumber);
    if (bound !== undefined) node[keyword] = bound;
  }
  readExclusive(reader, schema, node);
  const step = take(reader, schema, 'multipleOf', readPositive);
  if (step !== undefined) node.multipleOf = step;
  for (const keyword of ['minLength', 'maxLength'] as const) {
    const count = take(reader, schema, keyword, readCount);
    if (count !== undefined) node[keyword] = count;
  }
  const source = take(reader, schema, 'pattern', readText);
  const pattern = source === undefined ? undefined : takePattern(reader, source);
  if (pattern) node.pattern = pattern;
  const format = take(reader, schema, 'format', readText);
  if (format !== undefined) node.format = format;
}

/** Draft 4 writes a flag beside `minimum`, later drafts a number of its own. */
function readExclusive(
  reader: SchemaReader,
  schema: Record<string, unknown>,
  node: SchemaNode,
): void {
  const low = schema.exclusiveMinimum;
  if (low === true && node.minimum !== undefined) node.exclusiveMinimum = node.minimum;
  else if (typeof low !== 'boolean') {
    const bound = take(reader, schema, 'exclusiveMinimum', readNumber);
    if (bound !== undefined) node.exclusiveMinimum = bound;
  }
  const high = schema.exclusiveMaximum;
  if (high === true && node.maximum !== undefined) node.exclusiveMaximum = node.maximum;
  else if (typeof high !== 'boolean') {
    const bound = take(reader, schema, 'exclusiveMaximum', readNumber);
    if (bound !== undefined) node.exclusiveMaximum = bound;
  }
}

function readObjects(
  reader: SchemaReader,
  schema: Record<string, unknown>,
  node: SchemaNode,
): void {
  const properties = readMap(reader, schema, 'properties');
  if (properties) node.properties = properties;
  const byPattern = readMap(reader, schema, 'patternProperties');
  if (byPattern) {
    node.patternProperties = [...byPattern].flatMap(([source, one]) => {
      const pattern = takePattern(reader, source);
      return pattern ? [{ pattern, node: one }] : [];
    });
  }
  for (const keyword of [
    'additionalProperties',
    'unevaluatedProperties',
    'propertyNames',
  ] as const) {
    if (Object.hasOwn(schema, keyword)) node[keyword] = readNode(reader, schema[keyword]);
  }
  const required = take(reader, schema, 'required', readNames);
  if (required) node.required = required;
  for (const keyword of ['minProperties', 'maxProperties'] as const) {
    const count = take(reader, schema, keyword, readCount);
    if (count !== undefined) node[keyword] = count;
  }
  readDependencies(reader, schema, node);
  // Definitions that nothing refers to are read too, so that a bad one is told.
  for (const keyword of ['$defs', 'definitions']) readMap(reader, schema, keyword);
}

/** `dependencies` of older drafts is both `dependentRequired` and `dependentSchemas`. */
function readDependencies(
  reader: SchemaReader,
  schema: Record<string, unknown>,
  node: SchemaNode,
): void {
  const old = isRecord(schema.dependencies) ? Object.entries(schema.dependencies) : [];
  const lists = Object.fromEntries(old.filter(([, one]) => Array.isArray(one)));
  const schemas = Object.fromEntries(old.filter(([, one]) => !Array.isArray(one)));
  const names = take(
    reader,
    { dependentRequired: lists, ...schema },
    'dependentRequired',
    readNameMap,
  );
  if (names && names.size > 0) node.dependentRequired = names;
  const dependent = readMap(reader, { dependentSchemas: schemas, ...schema }, 'dependentSchemas');
  if (dependent && dependent.size > 0) node.dependentSchemas = dependent;
}

function readArrays(reader: SchemaReader, schema: Record<string, unknown>, node: SchemaNode): void {
  // Drafts before 2020-12 wrote a list in `items` and the rest in `additionalItems`.
  const tuple = Array.isArray(schema.items);
  const first = readList(reader, schema, tuple ? 'items' : 'prefixItems');
  if (first) node.prefixItems = first;
  const rest = tuple ? 'additionalItems' : 'items';
  if (Object.hasOwn(schema, rest)) node.items = readNode(reader, schema[rest]);
  for (const keyword of ['unevaluatedItems', 'contains'] as const) {
    if (Object.hasOwn(schema, keyword)) node[keyword] = readNode(reader, schema[keyword]);
  }
  for (const keyword of ['minContains', 'maxContains', 'minItems', 'maxItems'] as const) {
    const count = take(reader, schema, keyword, readCount);
    if (count !== undefined) node[keyword] = count;
  }
  const unique = take(reader, schema, 'uniqueItems', readFlag);
  if (unique !== undefined) node.uniqueItems = unique;
}

function readList(
  reader: SchemaReader,
  schema: Record<string, unknown>,
  keyword: string,
): SchemaNode[] | undefined {
  const list = take<readonly unknown[]>(reader, schema, keyword, (value) =>
    Array.isArray(value) && value.length > 0
      ? { ok: true, value }
      : { ok: false, want: 'a list of schemas that is not empty' },
  );
  return list?.map((one) => readNode(reader, one));
}

function readMap(
  reader: SchemaReader,
  schema: Record<string, unknown>,
  keyword: string,
): Map<string, SchemaNode> | undefined {
  const record = take<Record<string, unknown>>(reader, schema, keyword, (value) =>
    isRecord(value) ? { ok: true, value } : { ok: false, want: 'an object of schemas' },
  );
  if (!record) return undefined;
  return new Map(Object.entries(record).map(([key, one]) => [key, readNode(reader, one)]));
}
