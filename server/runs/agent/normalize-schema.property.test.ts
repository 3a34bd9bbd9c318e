import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson } from '#lib/json/equal';
import { isRecord } from '#lib/json/is-record';
import { CheckRun } from '#lib/schema/check-run';
import { compileToolSchema } from '#lib/schema/compile-tool-schema';
import { evaluate } from '#lib/schema/evaluate';
import { readSchema } from '#lib/schema/read-schema';
import { normalizeSchema } from './normalize-schema.ts';
import { TARGETS as FORMS, isTaken, type SchemaTarget } from './schema-targets.ts';
import { sampleValue } from './testing/sample-value.ts';
import { TOOL_SCHEMAS } from './testing/tool-schemas.ts';

type Schema = Record<string, unknown>;

const TARGETS = ['openai', 'openai-strict', 'anthropic', 'gemini', 'conservative'] as const;
const LOOSE = TARGETS.filter((target) => target !== 'openai-strict');

const choices = fc.array(fc.nat(5_039), { minLength: 80, maxLength: 80 });

/** By the schema alone: a form may be larger than what may be registered. */
const accepting = (schema: unknown) => {
  const { node, unchecked } = readSchema(schema);
  if (unchecked.length > 0) throw new Error(`${unchecked} ${JSON.stringify(schema)}`);
  return (args: unknown) => isRecord(args) && evaluate(node, args, new CheckRun());
};

/** Every schema in a schema, with the way to it. */
function* partsOf(schema: unknown, place = '#'): Generator<[string, Schema]> {
  if (!isRecord(schema)) return;
  yield [place, schema];
  for (const [keyword, value] of Object.entries(schema)) {
    const at = `${place}/${keyword}`;
    if (['properties', 'patternProperties', '$defs'].includes(keyword)) {
      for (const [name, one] of Object.entries(isRecord(value) ? value : {})) {
        yield* partsOf(one, `${at}/${name}`);
      }
    } else if (['items', 'additionalProperties', 'propertyNames'].includes(keyword)) {
      yield* partsOf(value, at);
    } else if (
      ['anyOf', 'allOf', 'oneOf', 'prefixItems'].includes(keyword) &&
      Array.isArray(value)
    ) {
      for (const [index, one] of value.entries()) yield* partsOf(one, `${at}/${index}`);
    }
  }
}

/** What a target would refuse of a schema, with its place. */
function refusedOf(target: SchemaTarget, root: Schema): string[] {
  const form = FORMS[target];
  const { hasTypeLists, enumTypes } = form;
  const formats = form.formats ?? new Set<string>();
  const found: string[] = [];
  const note = (place: string, what: string) => found.push(`${place}: ${what}`);
  if (root.type !== 'object' || !isRecord(root.properties)) note('#', 'no object');
  for (const keyword of ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', '$ref']) {
    if (root[keyword] !== undefined) note('#', keyword);
  }
  const defs = isRecord(root.$defs) ? root.$defs : {};
  for (const [place, part] of partsOf(root)) {
    for (const keyword of Object.keys(part)) if (!isTaken(form, keyword)) note(place, keyword);
    const { $ref, type, format, items, prefixItems, enum: values, required, properties } = part;
    if ($ref !== undefined) {
      const name = String($ref).replace('#/$defs/', '');
      if (!isRecord(defs[name])) note(place, `leads nowhere: ${$ref}`);
      const alone = Object.keys(part).every((one) =>
        ['$ref', 'title', 'description'].includes(one),
      );
      if (target === 'openai-strict' && !alone) note(place, 'a reference');
    }
    const types = Array.isArray(type) ? type : [type];
    if (types.includes('array') && items === undefined) note(place, 'a list of what');
    if (items !== undefined && !isRecord(items)) note(place, 'items that are no schema');
    if (prefixItems !== undefined && !isTaken(form, 'prefixItems')) note(place, 'a tuple');
    if (Array.isArray(type) && !hasTypeLists) note(place, 'a list of types');
    if (format !== undefined && form.formats && !formats.has(String(format)))
      note(place, `format ${format}`);
    if (Array.isArray(values)) {
      if (values.length === 0 || new Set(values.map(canonicalJson)).size < values.length)
        note(place, 'repeats');
      const isOdd = (value: unknown) =>
        value === '' ||
        isRecord(value) ||
        Array.isArray(value) ||
        (value === null && target !== 'openai-strict');
      if (enumTypes && (values.some(isOdd) || type === undefined)) note(place, 'values of enum');
    }
    if (target === 'openai-strict' && types.includes('object')) {
      const names = Object.keys(isRecord(properties) ? properties : {});
      if (part.additionalProperties !== false) note(place, 'open');
      if (
        canonicalJson(names.toSorted()) !==
        canonicalJson((Array.isArray(required) ? required : []).toSorted())
      )
        note(place, 'what is required');
    }
  }
  return found;
}

test.each(TARGETS)('[AL35] %s: each has a form that is accepted whole, or a reason', (target) => {
  const without: string[] = [];
  for (const { name, schema } of TOOL_SCHEMAS) {
    const before = structuredClone(schema);
    const form = normalizeSchema(schema, target);
    expect(schema, name).toEqual(before);
    if (!form.ok) {
      expect(form.reason.length).toBeGreaterThan(10);
      without.push(name);
      continue;
    }
    expect(refusedOf(target, { ...form.schema }), name).toEqual([]);
    expect(JSON.parse(JSON.stringify(form.schema)), name).toEqual(form.schema);
    expect(form.warnings.length).toBeLessThanOrEqual(20);
  }
  if (target === 'anthropic') expect(without).toEqual(['github.required_odd_name']);
  else if (target !== 'openai-strict') expect(without).toEqual([]);
  // Maps, values of any type and the like have no strict form; most schemas have one.
  else expect(without.length).toBeLessThan(TOOL_SCHEMAS.length / 3);
});

test.each(LOOSE)('[AL36] %s: what a schema accepts its form accepts', (target) => {
  const tried = new Map<string, number>();
  for (const { name, schema } of TOOL_SCHEMAS) {
    const form = normalizeSchema(schema, target);
    if (!form.ok) continue;
    const [original, loosened] = [accepting(schema), accepting(form.schema)];
    fc.assert(
      fc.property(choices, (tape) => {
        const args = sampleValue(schema, picker(tape));
        if (!original(args)) return;
        tried.set(name, (tried.get(name) ?? 0) + 1);
        expect(loosened(args), `${name} ${JSON.stringify([args, form.schema])}`).toBe(true);
      }),
      { numRuns: 40 },
    );
  }
  const untried = TOOL_SCHEMAS.filter(({ name }) => (tried.get(name) ?? 0) < 3);
  expect(untried.length, untried.map(({ name }) => name).join(' ')).toBeLessThan(10);
});

/** Schemas of all keywords that a tool may use, with references among them. */
const anySchema = fc.letrec<{ schema: unknown; object: object }>((tie) => ({
  object: fc.record(
    {
      type: fc.constant('object'),
      properties: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('schema'), { maxKeys: 3 }),
      required: fc.subarray(['a', 'b']),
      additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
      patternProperties: fc.dictionary(fc.constantFrom('^a', 'x'), tie('schema'), { maxKeys: 1 }),
      minProperties: fc.nat(1),
    },
    { requiredKeys: ['type'] },
  ),
  schema: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(
      ...[{ type: 'string' }, { type: 'integer' }, { type: 'boolean' }, { type: 'null' }, {}, true],
      ...[false, { const: 'x' }, { const: null }, { enum: ['x', 5, null] }, { enum: [1, 2] }],
      ...[{ type: ['string', 'null'] }, { type: ['string', 'integer', 'array'], minLength: 2 }],
      ...[
        { type: 'string', pattern: '^a', maxLength: 5 },
        { type: 'number', minimum: 2 },
      ],
      ...[{ $ref: '#/$defs/p' }, { $ref: '#/$defs/q', description: 'x' }, { $ref: '#' }],
      ...[{ $ref: '#/properties/v' }, { minimum: 3 }, { format: 'email' }, { enum: ['', 'x'] }],
    ),
    tie('object'),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
    fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({
      type: fc.constant('string'),
      anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
    }),
    fc.record({
      properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema'), { maxKeys: 2 }),
      anyOf: fc.array(tie('object'), { minLength: 1, maxLength: 2 }),
    }),
    fc.record({ not: tie('schema') }),
    fc.record(
      { if: tie('schema'), then: tie('schema'), else: tie('schema') },
      { requiredKeys: ['if'] },
    ),
    fc.record({
      properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema'), { maxKeys: 2 }),
      dependentSchemas: fc.dictionary(fc.constantFrom('a', 'b'), tie('object'), { maxKeys: 2 }),
      dependentRequired: fc.record({ a: fc.constant(['b']) }),
    }),
    fc.record(
      { type: fc.constant('array'), items: tie('schema'), minItems: fc.nat(1) },
      { requiredKeys: ['type'] },
    ),
    fc.record(
      {
        prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
        items: tie('schema'),
      },
      { requiredKeys: ['prefixItems'] },
    ),
    fc.record(
      {
        items: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
        additionalItems: tie('schema'),
      },
      { requiredKeys: ['items'] },
    ),
  ),
}));

const unionOf = (keyword: string) =>
  fc.array(anySchema.object, { minLength: 1, maxLength: 2 }).map((forms) => ({ [keyword]: forms }));

const anyRoot = fc
  .tuple(
    fc.record({ v: anySchema.schema, a: anySchema.schema }),
    fc.record({ p: anySchema.object, q: anySchema.schema }),
    fc.oneof(
      { weight: 3, arbitrary: fc.constant({}) },
      ...['anyOf', 'oneOf', 'allOf'].map(unionOf),
      fc.record({ required: fc.constant(['a']) }),
      fc.record({ additionalProperties: fc.oneof(fc.boolean(), anySchema.schema) }),
    ),
  )
  .map(([properties, $defs, more]) => ({ type: 'object', properties, $defs, ...more }));

test('[AL35] [AL36] the same of any schema that can be registered', () => {
  const tried = { schemas: 0, values: 0 };
  fc.assert(
    fc.property(anyRoot, fc.array(choices, { minLength: 8, maxLength: 8 }), (schema, tapes) => {
      const original = compileToolSchema(schema);
      fc.pre(original.ok);
      tried.schemas += 1;
      const values = tapes
        .map((tape) => sampleValue(schema, picker(tape)))
        .filter((args) => accepting(schema)(args));
      tried.values += values.length;
      for (const target of TARGETS) {
        const form = normalizeSchema(schema, target);
        if (!form.ok) continue;
        expect(refusedOf(target, { ...form.schema }), target).toEqual([]);
        if (target === 'openai-strict') continue;
        const loosened = accepting(form.schema);
        for (const args of values) {
          expect(loosened(args), `${target} ${JSON.stringify([args, form.schema])}`).toBe(true);
        }
      }
    }),
    { numRuns: 200 },
  );
  expect(tried.schemas).toBeGreaterThan(100);
  expect(tried.values).toBeGreaterThan(150);
});

function picker(tape: readonly number[]) {
  let at = 0;
  return (count: number) => {
    at += 1;
    return (tape[at % tape.length] ?? 0) % count;
  };
}
