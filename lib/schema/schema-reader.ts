import { isRecord } from '../json/is-record.ts';
import { compilePattern, MAX_PATTERN_SIZE } from './compile-pattern.ts';
import { describeValue, shorten } from './describe-value.ts';
import type { Read } from './read-keyword.ts';
import type { SafePattern, SchemaNode } from './schema-node.ts';

export interface SchemaRefusal {
  readonly code: string;
  readonly message: string;
  /** What the message is about, for programs. */
  readonly params?: Readonly<Record<string, string>>;
}

/** Of a place in the schema, in a message. */
const PLACE_CHARS = 200;

/** All patterns of one schema together; to compile them takes about 30 ms, 60 ms at worst. */
const MAX_TOTAL_PATTERN_SIZE = 3 * MAX_PATTERN_SIZE;

/**
 * Reading state of one schema: the node of each place, so that a `$ref` to a
 * place seen before is an edge and no second copy, and the first refusal.
 * Reading goes on after a refusal, with a node that means nothing.
 */
export interface SchemaReader {
  readonly root: unknown;
  readonly nodes: Map<unknown, SchemaNode>;
  /** References that are still to be followed. */
  readonly pending: { from: SchemaNode; target: unknown }[];
  refusal: SchemaRefusal | undefined;
  /** The part that is being read. */
  place: unknown;
  /** For the patterns that are still to be read. */
  patternRoom: number;
}

export const createSchemaReader = (root: unknown): SchemaReader => ({
  root,
  nodes: new Map(),
  pending: [],
  refusal: undefined,
  place: root,
  patternRoom: MAX_TOTAL_PATTERN_SIZE,
});

/** Records the first refusal, with its place in the schema; later ones are left out. */
export function refuse(
  reader: SchemaReader,
  code: string,
  text: string,
  params?: SchemaRefusal['params'],
): void {
  if (reader.refusal) return;
  const place = findPlace(reader.root, reader.place);
  const message = place ? `At "#${place.slice(0, PLACE_CHARS).toWellFormed()}": ${text}` : text;
  reader.refusal = params ? { code, message, params } : { code, message };
}

/** The JSON pointer of a part of the schema, which has a limited depth; empty for the whole. */
function findPlace(value: unknown, wanted: unknown): string | undefined {
  if (value === wanted) return '';
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, one] of Object.entries(value)) {
    const rest = findPlace(one, wanted);
    if (rest !== undefined) return `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}${rest}`;
  }
}

/** The keyword's value when it is there and right; else the refusal is noted. */
export function take<T>(
  reader: SchemaReader,
  schema: Readonly<Record<string, unknown>>,
  keyword: string,
  read: (value: unknown) => Read<T>,
): T | undefined {
  if (!Object.hasOwn(schema, keyword)) return undefined;
  const result = read(schema[keyword]);
  if (result.ok) return result.value;
  refuse(
    reader,
    'schema_invalid',
    `"${keyword}" in the schema must be ${result.want}, was ${describeValue(schema[keyword])}.`,
    { keyword },
  );
}

export function takePattern(reader: SchemaReader, source: string): SafePattern | undefined {
  // A part of the schema may have any number of them.
  if (reader.refusal) return undefined;
  const compiled = compilePattern(source, reader.patternRoom);
  if (!compiled.ok) {
    refuse(reader, 'schema_pattern', `The pattern "${shorten(source)}" ${compiled.reason}.`);
    return undefined;
  }
  reader.patternRoom -= compiled.size;
  return compiled.pattern;
}

/** The place a local `$ref` points to: `#` or `#/json/pointer`. */
export function resolveRef(reader: SchemaReader, ref: string): unknown {
  if (!ref.startsWith('#')) {
    refuse(
      reader,
      'schema_ref_remote',
      `"$ref" must point into the schema itself (#/$defs/…), was "${shorten(ref)}".`,
    );
    return undefined;
  }
  const target = ref === '#' ? reader.root : followPointer(reader.root, ref.slice(1));
  if (typeof target !== 'boolean' && !isRecord(target)) {
    refuse(
      reader,
      'schema_ref_unknown',
      `"$ref" must point to a schema in the schema itself; nothing is at "${shorten(ref)}".`,
    );
    return undefined;
  }
  return target;
}

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
