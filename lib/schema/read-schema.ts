import { canonicalJson } from '../json/equal.ts';
import { isRecord } from '../json/is-record.ts';
import { shorten } from './check-run.ts';
import { isOfType } from './check-scalar.ts';
import { compilePattern, MAX_PATTERN_SIZE } from './compile-pattern.ts';
import { modernKeywords } from './modern-keywords.ts';
import {
  type AllowedValues,
  inPlaceNodes,
  partNodes,
  type SafePattern,
  type SchemaNode,
  setAside,
  TYPE_WORDS,
  type TypeWord,
} from './schema-node.ts';

/** All patterns of one schema together; to compile them takes about 30 ms, 60 ms at worst. */
const MAX_TOTAL_PATTERN_SIZE = 3 * MAX_PATTERN_SIZE;
/** So many places that are not checked are named. */
const MOST_PLACES = 20;

interface Reader {
  readonly root: unknown;
  /** The node of each part that was read, so that a `$ref` to it is an edge and no second copy. */
  readonly nodes: Map<unknown, SchemaNode>;
  /** References that are still to be followed: a long chain of them needs no deep stack. */
  readonly pending: { readonly from: SchemaNode; readonly target: unknown; readonly at: string }[];
  /** Parts by their `$id` and `$anchor`, once a reference asks for one. */
  named: ReadonlyMap<string, unknown> | undefined;
  /** Size that patterns may still have. */
  patternRoom: number;
  /** JSON pointers of what is not checked. */
  readonly unchecked: Set<string>;
  /** The nodes in which something is not checked. */
  readonly partial: Set<SchemaNode>;
}

/** One part of a schema while it is read: `at` is its JSON pointer. */
interface Part {
  readonly reader: Reader;
  readonly node: SchemaNode;
  readonly at: string;
}

export interface ReadSchema {
  readonly node: SchemaNode;
  /** JSON pointers of what cannot be checked: values that break it are accepted. */
  readonly unchecked: readonly string[];
}

/** Reads a schema of limited depth into a graph of nodes. It never fails: what it cannot read is not checked. */
export function readSchema(root: unknown): ReadSchema {
  const reader: Reader = {
    root,
    nodes: new Map(),
    pending: [],
    named: undefined,
    patternRoom: MAX_TOTAL_PATTERN_SIZE,
    unchecked: new Set(),
    partial: new Set(),
  };
  const node = readNode(reader, root, '#');
  for (let next = reader.pending.pop(); next; next = reader.pending.pop()) {
    next.from.ref = readNode(reader, next.target, next.at);
  }
  if (reader.partial.size > 0) loosen(node, reader.partial);
  return { node, unchecked: [...reader.unchecked].slice(0, MOST_PLACES) };
}

function leave(reader: Reader, node: SchemaNode, at: string): void {
  reader.partial.add(node);
  if (reader.unchecked.size < MOST_PLACES) reader.unchecked.add(at);
}

function readNode(reader: Reader, schema: unknown, at: string): SchemaNode {
  if (typeof schema === 'boolean') return { always: schema };
  // Go writes so what it knows nothing of.
  if (schema === null) return {};
  const known = reader.nodes.get(schema);
  if (known) return known;
  const node: SchemaNode = {};
  reader.nodes.set(schema, node);
  if (!isRecord(schema)) {
    leave(reader, node, at);
    return node;
  }
  const { nullable, ...keywords } = schema;
  if (nullable === true) {
    node.anyOf = [readNode(reader, keywords, at), { types: ['null'] }];
    return node;
  }
  const modern = modernKeywords(keywords);
  for (const [keyword, value] of Object.entries(modern)) {
    const place = `${at}/${escapePart(keyword)}`;
    if (KEYWORDS.get(keyword)?.({ reader, node, at: place }, value) === false) {
      leave(reader, node, place);
    }
  }
  dropWithoutPartner(node, modern);
  return node;
}

/** These mean something else, or all, where the keyword beside them was not read. */
function dropWithoutPartner(node: SchemaNode, schema: Readonly<Record<string, unknown>>): void {
  const isLost = (keyword: 'patternProperties' | 'properties' | 'prefixItems') =>
    schema[keyword] !== undefined && node[keyword] === undefined;
  if (isLost('patternProperties') || isLost('properties')) {
    setAside(node, 'partsAside', node.additionalProperties);
    delete node.additionalProperties;
  }
  if (isLost('prefixItems')) {
    setAside(node, 'partsAside', node.items);
    delete node.items;
  }
  if (node.condition) return;
  setAside(node, 'aside', node.whenMet, node.whenNot);
  delete node.whenMet;
  delete node.whenNot;
}

/** False where the value is none that the keyword can have, or cannot be checked. */
type ReadKeyword = (part: Part, value: unknown) => boolean;

const into =
  <Field extends keyof SchemaNode>(
    field: Field,
    read: (value: unknown, part: Part) => SchemaNode[Field] | undefined,
  ): ReadKeyword =>
  (part, value) => {
    const found = read(value, part);
    if (found !== undefined) part.node[field] = found;
    return found !== undefined;
  };

const readOne = (value: unknown, { reader, at }: Part) =>
  isRecord(value) || typeof value === 'boolean' ? readNode(reader, value, at) : undefined;

const readList = (value: unknown, { reader, at }: Part) =>
  Array.isArray(value) && value.length > 0
    ? value.map((one: unknown, index) => readNode(reader, one, `${at}/${index}`))
    : undefined;

const readMap = (value: unknown, { reader, at }: Part) =>
  isRecord(value)
    ? new Map(
        Object.entries(value).map(([key, one]) => [
          key,
          readNode(reader, one, `${at}/${escapePart(key)}`),
        ]),
      )
    : undefined;

const readNumber = (value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

const readCount = (value: unknown) =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;

const readText = (value: unknown) => (typeof value === 'string' ? value : undefined);

const readNames = (value: unknown): readonly string[] | undefined => {
  const list: readonly unknown[] = Array.isArray(value) ? value : [undefined];
  const names = list.filter((one) => typeof one === 'string');
  return names.length === list.length ? names : undefined;
};

const isTypeWord = (word: unknown): word is TypeWord => TYPE_WORDS.some((one) => one === word);

function readTypes(value: unknown): readonly TypeWord[] | undefined {
  const words: readonly unknown[] = Array.isArray(value) ? value : [value];
  const known = words.filter(isTypeWord);
  // A word that is there a thousand times would be compared so often for each value.
  return known.length > 0 && known.length === words.length ? [...new Set(known)] : undefined;
}

function readValues(values: readonly unknown[]): AllowedValues {
  const keys = values.map(canonicalJson);
  const shown = keys.slice(0, 20).map(shorten).join(', ');
  const types = new Set(values.flatMap(typesOf));
  return { keys: new Set(keys), types, text: keys.length > 20 ? `${shown}, …` : shown };
}

const typesOf = (value: unknown): readonly TypeWord[] =>
  typeof value === 'number'
    ? ['number', 'integer']
    : TYPE_WORDS.filter((word) => isOfType(value, word));

function readPattern(value: unknown, { reader }: Part): SafePattern | undefined {
  if (typeof value !== 'string') return undefined;
  const compiled = compilePattern(value, reader.patternRoom);
  if (!compiled.ok) return undefined;
  reader.patternRoom -= compiled.size;
  return compiled.pattern;
}

/** Which names are of an unreadable pattern is not known: then none of them counts. */
function readPatternMap(value: unknown, part: Part): SchemaNode['patternProperties'] {
  const read = [...(readMap(value, part) ?? [['', {}] as const])].flatMap(([source, node]) => {
    const pattern = isRecord(value) && readPattern(source, part);
    return pattern ? [{ pattern, node }] : [];
  });
  if (isRecord(value) && read.length === Object.keys(value).length) return read;
  setAside(part.node, 'partsAside', ...(readMap(value, part)?.values() ?? []));
  return undefined;
}

function readDependent(value: unknown): SchemaNode['dependentRequired'] {
  if (!isRecord(value)) return undefined;
  const names = Object.entries(value).flatMap(([name, list]) => {
    const read = readNames(list);
    return read ? [[name, read] as const] : [];
  });
  return names.length === Object.keys(value).length ? new Map(names) : undefined;
}

/** Any value that is meant as a mark counts as one. */
const readMark = (value: unknown) => value !== false && value !== 'false';

function readReference({ reader, node, at }: Part, value: unknown): boolean {
  const target = typeof value === 'string' ? findTarget(reader, value) : undefined;
  if (typeof target !== 'boolean' && !isRecord(target)) return false;
  reader.pending.push({ from: node, target, at });
  return true;
}

function notChecked(field: 'aside' | 'partsAside'): ReadKeyword {
  return (part, value) => {
    setAside(part.node, field, readOne(value, part));
    return false;
  };
}

/** Keywords whose values are of one kind, and stand under their own names in a node. */
const each = <Keyword extends keyof SchemaNode>(
  read: (value: unknown, part: Part) => SchemaNode[Keyword] | undefined,
  ...keywords: readonly Keyword[]
): Readonly<Record<string, ReadKeyword>> =>
  Object.fromEntries(keywords.map((keyword) => [keyword, into(keyword, read)]));

/** All keywords that are checked. Any other is an annotation. */
const READERS: Readonly<Record<string, ReadKeyword>> = {
  ...each(readOne, 'not', 'additionalProperties', 'propertyNames', 'items', 'contains'),
  ...each(readList, 'allOf', 'anyOf', 'oneOf', 'prefixItems'),
  ...each(readMap, 'properties', 'dependentSchemas'),
  ...each(readNumber, 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'),
  ...each(readCount, 'minLength', 'maxLength', 'minItems', 'maxItems'),
  ...each(readCount, 'minContains', 'maxContains', 'minProperties', 'maxProperties'),
  type: into('types', readTypes),
  enum: into('allowed', (value, { node }) =>
    // `const` beside it says more.
    Array.isArray(value) && value.length > 0 ? (node.allowed ?? readValues(value)) : undefined,
  ),
  const: into('allowed', (value) => readValues([value])),
  $ref: readReference,
  if: into('condition', readOne),
  // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema
  then: into('whenMet', readOne),
  else: into('whenNot', readOne),
  dependentRequired: into('dependentRequired', readDependent),
  patternProperties: into('patternProperties', readPatternMap),
  required: into('required', readNames),
  uniqueItems: into('uniqueItems', (value) => (typeof value === 'boolean' ? value : undefined)),
  multipleOf: into('multipleOf', (value) => {
    const step = readNumber(value);
    return step !== undefined && step > 0 ? step : undefined;
  }),
  pattern: into('pattern', readPattern),
  format: into('format', readText),
  'x-sensitive': into('sensitive', readMark),
  // These remain where `modernKeywords` could not put them in other words.
  dependencies: () => false,
  unevaluatedProperties: notChecked('partsAside'),
  unevaluatedItems: notChecked('partsAside'),
  $dynamicRef: () => false,
  $recursiveRef: () => false,
  // They check in draft 3.
  extends: notChecked('aside'),
  disallow: () => false,
  divisibleBy: () => false,
};

const KEYWORDS: ReadonlyMap<string, ReadKeyword> = new Map(Object.entries(READERS));

/** The part a reference leads to: by its place, or by its own `$id` or `$anchor`. */
function findTarget(reader: Reader, ref: string): unknown {
  if (ref === '#') return reader.root;
  const byPlace = ref.startsWith('#/') ? followPointer(reader.root, ref.slice(1)) : undefined;
  if (byPlace !== undefined) return byPlace;
  reader.named ??= namesOf(reader.root);
  const [base = '', fragment = ''] = ref.split('#', 2);
  const found = reader.named.get(base === '' ? `#${fragment}` : base);
  return base !== '' && fragment.startsWith('/') ? followPointer(found, fragment) : found;
}

function namesOf(root: unknown): Map<string, unknown> {
  const named = new Map<string, unknown>();
  const name = (id: unknown, part: unknown, before = '') => {
    if (typeof id === 'string') named.set(before + id.replace(/(?<=.)#$/, ''), part);
  };
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if (isRecord(value)) {
      name(value.$id ?? value.id, value);
      name(value.$anchor ?? value.$dynamicAnchor, value, '#');
    }
    Object.values(value).forEach(visit);
  };
  visit(root);
  return named;
}

const escapePart = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

export function followPointer(root: unknown, pointer: string): unknown {
  if (!pointer.startsWith('/')) return undefined;
  let place = root;
  for (const part of pointer.slice(1).split('/')) {
    const key = decodePart(part);
    if (Array.isArray(place) && /^\d{1,5}$/.test(key)) place = place[Number(key)];
    else if (isRecord(place) && Object.hasOwn(place, key)) place = place[key];
    else return undefined;
  }
  return place;
}

function decodePart(part: string): string {
  let text = part;
  try {
    text = decodeURIComponent(part);
  } catch {
    // A lone % means itself, as most generators write it.
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~');
}

/**
 * A part that is checked in part accepts more than it should. What holds where such a part refuses
 * a value would then refuse more than it should, so it is left out as well.
 */
function loosen(root: SchemaNode, partial: Set<SchemaNode>): void {
  const parents = parentsOf(root);
  for (const node of partial) for (const parent of parents.get(node) ?? []) partial.add(parent);
  const isPartial = (node: SchemaNode | undefined) => node !== undefined && partial.has(node);
  for (const node of parents.keys()) {
    if (isPartial(node.not)) {
      setAside(node, 'aside', node.not);
      delete node.not;
    }
    if (isPartial(node.contains)) delete node.maxContains;
    if (isPartial(node.condition)) {
      setAside(node, 'aside', node.condition, node.whenMet, node.whenNot);
      delete node.condition;
      delete node.whenMet;
      delete node.whenNot;
    }
    if (!node.oneOf?.some(isPartial)) continue;
    node.allOf = [...(node.allOf ?? []), { anyOf: node.oneOf }];
    delete node.oneOf;
  }
}

/** The nodes that lead to each node that the root leads to. */
function parentsOf(root: SchemaNode): ReadonlyMap<SchemaNode, readonly SchemaNode[]> {
  const parents = new Map<SchemaNode, SchemaNode[]>([[root, []]]);
  for (const node of parents.keys()) {
    for (const child of [...inPlaceNodes(node), ...partNodes(node)]) {
      const known = parents.get(child);
      if (known) known.push(node);
      else parents.set(child, [node]);
    }
  }
  return parents;
}
