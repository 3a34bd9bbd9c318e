import { isRecord } from '#lib/json/is-record';
import { hasFormat } from '#lib/schema/check-scalar';
import { followPointer } from '#lib/schema/read-schema';

type Schema = Record<string, unknown>;

/** Picks a number below `count`. */
export type Pick = (count: number) => number;

const TEXTS = [
  ...[
    'x',
    '',
    'abc',
    'true',
    '5',
    'a@b.example',
    'https://example.org/a',
    '2024-02-29',
    '10:00:00Z',
  ],
  ...['2024-02-29T10:00:00Z', '123e4567-e89b-42d3-a456-426614174000', '127.0.0.1', '755', 'EUR'],
  ...['deadbeef', 'ff00aa', '#ff00aa', 'CB-12', '1700000000.000100', 'light.desk', '15m', 'now-1h'],
  ...['arn:a', 'eu-west-1', '1.50', 'RRULE:FREQ=DAILY', 'A=b', '250m', 'az', '5d', 'q1', 'sku_1'],
  ...['1-3,5', 'custom:x', '2024-01-01to2024-02-01', 'gi', 'x'.repeat(40)],
];
const NUMBERS = [0, 1, -1, 2, 5, 10, 80, 120, 404, 2_700, 1.5, 0.05, 0.5, 40, 1e6, -90];
const ODD = [null, true, false, 'x', 5, 1.5, [], {}, [1, 'x'], { a: 1 }, { x: [null] }];

/**
 * A value that a schema is likely to accept, for tests that then ask whether it
 * does. Every tenth part or so is something else, and names are added and left out.
 */
export function sampleValue(root: Schema, pick: Pick): unknown {
  return some(root, { root, pick, depth: 0 });
}

interface Sampling {
  readonly root: Schema;
  readonly pick: Pick;
  readonly depth: number;
}

/** Of a schema that says nothing, anything. */
function some(schema: unknown, state: Sampling): unknown {
  const value = sample(schema, state);
  return value === undefined ? ODD[state.pick(ODD.length)] : value;
}

/** Undefined where the schema says nothing of the kind of value. */
function sample(schema: unknown, state: Sampling): unknown {
  const { pick, root } = state;
  const deeper = { ...state, depth: state.depth + 1 };
  if (!isRecord(schema) || state.depth > 12 || pick(14) === 0) return ODD[pick(ODD.length)];
  if (typeof schema.$ref === 'string') {
    const target = schema.$ref === '#' ? root : followPointer(root, schema.$ref.slice(1));
    return together(sample(target, deeper), sampleOwn(schema, deeper));
  }
  if (Object.hasOwn(schema, 'const')) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[pick(schema.enum.length)];
  return sampleOwn(schema, deeper);
}

function sampleOwn(schema: Schema, state: Sampling): unknown {
  const { pick } = state;
  const lists = [schema.anyOf, schema.oneOf].filter((list) => Array.isArray(list));
  const branches = lists.map((list) => sample(list[pick(list.length)], state));
  const parts = Array.isArray(schema.allOf) ? schema.allOf.map((one) => sample(one, state)) : [];
  return [...branches, ...parts].reduceRight(
    (value, one) => together(one, value),
    sampleType(schema, state),
  );
}

/** Objects are brought together; of other values the first that is there counts. */
const together = (a: unknown, b: unknown): unknown =>
  isRecord(a) && isRecord(b) ? { ...b, ...a } : a === undefined ? b : a;

function sampleType(schema: Schema, state: Sampling): unknown {
  const { pick } = state;
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  switch (types[pick(types.length)] ?? typeBy(schema)) {
    case 'string':
      return sampleText(schema, pick);
    case 'number':
    case 'integer':
      return sampleNumber(schema, pick);
    case 'boolean':
      return pick(2) === 0;
    case 'null':
      return null;
    case 'array':
      return sampleList(schema, state);
    case 'object':
      return sampleObject(schema, state);
    default:
      return undefined;
  }
}

function typeBy(schema: Schema): string | undefined {
  if (schema.properties || schema.additionalProperties) return 'object';
  if (schema.items || schema.prefixItems) return 'array';
  return undefined;
}

function sampleText({ pattern, format, minLength, maxLength }: Schema, pick: Pick): string {
  const fits = (text: string) =>
    (typeof pattern !== 'string' || new RegExp(pattern, 'u').test(text)) &&
    (typeof format !== 'string' || hasFormat(format, text)) &&
    (typeof minLength !== 'number' || text.length >= minLength) &&
    (typeof maxLength !== 'number' || text.length <= maxLength);
  const likely = TEXTS.filter(fits);
  return likely[pick(Math.max(1, likely.length))] ?? 'x';
}

function sampleNumber({ minimum, maximum, exclusiveMinimum }: Schema, pick: Pick): number {
  const bounds = [minimum, maximum, exclusiveMinimum].filter((one) => typeof one === 'number');
  const near = bounds.flatMap((one) => [one, one + 1, one - 1]);
  const likely = [...near, ...NUMBERS];
  return likely[pick(likely.length)] ?? 0;
}

function sampleList({ items, prefixItems, minItems }: Schema, state: Sampling): unknown[] {
  const { pick } = state;
  const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
  const least = Math.max(first.length, typeof minItems === 'number' ? Math.min(minItems, 6) : 0);
  const rest = items === undefined || Array.isArray(items) ? {} : items;
  const length = pick(5) === 0 ? pick(4) : least + pick(2);
  return Array.from({ length }, (_, at) => some(first[at] ?? rest, state));
}

function sampleObject(schema: Schema, state: Sampling): Schema {
  const { pick } = state;
  const { properties, required, additionalProperties, patternProperties } = schema;
  const names = isRecord(properties) ? Object.keys(properties) : [];
  const needed = new Set(Array.isArray(required) ? required : []);
  const kept = names.filter((name) => (needed.has(name) ? pick(20) > 0 : pick(2) === 0));
  const own = kept.map((name) => [name, some(isRecord(properties) && properties[name], state)]);
  const ghosts = [...needed].filter((name) => !names.includes(String(name)));
  const others =
    pick(3) === 0 || isRecord(additionalProperties) ? extraNames(patternProperties, pick) : [];
  const extra = [...ghosts, ...others].map((name) => [
    String(name),
    some(additionalProperties ?? {}, state),
  ]);
  return Object.fromEntries([...extra, ...own]);
}

const extraNames = (patterns: unknown, pick: Pick): string[] =>
  isRecord(patterns) ? ['x-a', 'PATH', '$set'] : [['q1', 'sku_1', 'b', 'x', 'y'][pick(5)] ?? 'c'];
