import { Validator } from '@cfworker/json-schema';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileToolSchema } from './compile-tool-schema.ts';

const compile = (schema: unknown) => {
  const compiled = compileToolSchema(schema);
  if (!compiled.ok) throw new Error(`${compiled.code}: ${compiled.message}`);
  return compiled.check;
};
const codeOf = (schema: unknown) => {
  const compiled = compileToolSchema(schema);
  if (!compiled.ok) expect(compiled.message.length).toBeGreaterThan(10);
  return compiled.ok ? 'ok' : compiled.code;
};

test('[SC9][SC17] neither compiling nor checking throws, whatever they are given', () => {
  const keyword = fc.constantFrom(
    'type',
    'properties',
    'items',
    'anyOf',
    'allOf',
    'oneOf',
    'not',
    'if',
    'then',
    '$ref',
    '$defs',
    'enum',
    'required',
    'pattern',
    'additionalProperties',
    'format',
    'minimum',
    'prefixItems',
    'contains',
    'uniqueItems',
    'dependencies',
    'unevaluatedProperties',
    'patternProperties',
    'propertyNames',
    'a',
  );
  const leaf = fc.oneof(
    fc.constantFrom(
      'object',
      'string',
      '#',
      '#/$defs/a',
      'boolean',
      'a',
      'true',
      '5',
      1,
      true,
      false,
      null,
    ),
    fc.json(),
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'medium' },
      leaf,
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(keyword, tie('tree'), { maxKeys: 5 }),
    ),
  }));
  fc.assert(
    fc.property(fc.dictionary(keyword, tree, { maxKeys: 6 }), tree, (schema, args) => {
      const compiled = compileToolSchema({ type: 'object', properties: {}, ...schema });
      if (compiled.ok) for (const one of [args, { a: args }]) compiled.check(one);
      compileToolSchema(args);
    }),
    { numRuns: 2_000 },
  );
  const loop: Record<string, unknown> = { type: 'object' };
  loop.properties = { a: loop };
  expect(codeOf(loop)).toBe('schema_too_deep');
  expect(compile({ type: 'object' })(loop).ok).toBe(false);
  for (const value of [{ a: () => 1 }, { a: 1n }, { a: Number.NaN }, { a: undefined }]) {
    expect(compile({ type: 'object' })(value).ok).toBe(false);
  }
});

/** Random schemas of the common keywords, with arguments that often fit them. */
const typedSchema = fc.letrec<{ schema: object }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(
      { type: 'string' },
      { type: 'number' },
      { type: 'integer' },
      { type: 'boolean' },
      { type: ['null', 'number'] },
      { type: 'string', minLength: 2 },
      { enum: ['true', 5, null] },
      { const: '5' },
      { type: 'number', minimum: 2 },
      {},
      { type: ['string', 'boolean'] },
      { type: 'string', pattern: '^[0-9]+$' },
      { multipleOf: 5 },
    ),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
    fc.record({ not: tie('schema') }),
    fc.record(
      { if: tie('schema'), then: tie('schema'), else: tie('schema') },
      { requiredKeys: ['if'] },
    ),
    fc.record({ then: tie('schema') }),
    fc.record({
      dependentSchemas: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema')),
      dependentRequired: fc.dictionary(fc.constantFrom('a', 'c'), fc.subarray(['a', 'b'])),
    }),
    fc.record({ type: fc.constant('array'), items: tie('schema'), uniqueItems: fc.boolean() }),
    fc.record({
      prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
      items: tie('schema'),
    }),
    fc.record({ minItems: fc.nat(2), maxItems: fc.nat(3) }),
    fc.record({
      properties: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('schema')),
      required: fc.subarray(['a', 'b']),
      patternProperties: fc.dictionary(fc.constantFrom('^a', 'c$'), tie('schema')),
    }),
    fc.record({
      type: fc.constant('object'),
      properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema')),
      additionalProperties: tie('schema'),
    }),
    fc.record({
      minProperties: fc.nat(2),
      propertyNames: fc.constantFrom({ minLength: 1 }, { pattern: '^[ab]$' }),
    }),
  ),
})).schema;
const someValue = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>('true', 'false', '5', '1', 'x', '', 5, 1, 2.5, true, false, null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value')),
  ),
})).value;

test('[SC18] what is valid is what an independent validator calls valid', () => {
  let valid = 0;
  fc.assert(
    fc.property(typedSchema, someValue, (schema, value) => {
      const whole = { type: 'object' as const, properties: { v: structuredClone(schema) } };
      const expected = new Validator({ ...whole }, '2020-12').validate({
        v: value,
      }).valid;
      const result = compile(whole)({ v: value });
      if (expected) valid += 1;
      expect(result.ok && result.repairs.length === 0).toBe(expected);
    }),
    { numRuns: 5_000 },
  );
  expect(valid).toBeGreaterThan(500);
});

/** Schemas with keywords of every draft, right and wrong. */
const openSchema = typedSchema.chain((inner) =>
  fc.dictionary(
    fc.constantFrom(
      ...['if', 'then', 'else', 'contains', 'unevaluatedItems', 'unevaluatedProperties'],
      ...['dependencies', 'additionalItems', 'items', 'not', 'additionalProperties'],
    ),
    fc.oneof(typedSchema, fc.constantFrom(true, false, {}), fc.constant([inner])),
    { minKeys: 1, maxKeys: 2 },
  ),
);

test('[SC23] a schema means what an independent validator takes it for, or accepts more', () => {
  const seen = { whole: 0, partly: 0 };
  fc.assert(
    fc.property(openSchema, someValue, (schema, value) => {
      const whole = { type: 'object' as const, properties: { v: structuredClone(schema) } };
      const compiled = compileToolSchema(whole);
      if (!compiled.ok) throw new Error(compiled.message);
      const isWhole = compiled.unchecked.length === 0;
      seen[isWhole ? 'whole' : 'partly'] += 1;
      const expected = new Validator({ ...whole }, '2020-12').validate({ v: value }).valid;
      const result = compiled.check({ v: value });
      const isValid = result.ok && result.repairs.length === 0;
      if (isWhole) expect(isValid).toBe(expected);
      else if (expected) expect(isValid).toBe(true);
    }),
    { numRuns: 3_000 },
  );
  expect(Math.min(seen.whole, seen.partly)).toBeGreaterThan(100);
});

test('[SC10] valid arguments come back as they were', () => {
  fc.assert(
    fc.property(typedSchema, someValue, (schema, value) => {
      const args = { v: value };
      const result = compile({ type: 'object', properties: { v: schema } })(args);
      if (result.ok && result.repairs.length === 0) expect(result.args).toBe(args);
    }),
  );
});

/** Schemas that want booleans and numbers, with texts that may spell them. */
const slipSchema = fc.letrec<{ schema: object }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(
      { type: 'boolean' },
      { type: 'integer' },
      { type: ['number', 'null'] },
      { type: 'string' },
      { type: 'object' },
    ),
    fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
    fc.record({ items: tie('schema') }),
    fc.record({ type: fc.constant('array'), items: tie('schema') }),
    fc.record({ additionalProperties: tie('schema') }),
  ),
})).schema;
const someSlip = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>('true', '5', '2.5', 'x', '{"a":"5"}', '["true"]', '[1', null, false),
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'b'), tie('value'), { maxKeys: 2 }),
  ),
})).value;

test('[SC13] repaired arguments are valid and need no repair', () => {
  let repaired = 0;
  fc.assert(
    fc.property(slipSchema, someSlip, (schema, value) => {
      const check = compile({ type: 'object', properties: { v: schema } });
      const result = check({ v: value });
      if (!result.ok || result.repairs.length === 0) return;
      repaired += 1;
      expect(new Set(result.repairs).size).toBe(result.repairs.length);
      expect(check(result.args)).toEqual({ ok: true, args: result.args, repairs: [] });
    }),
    { numRuns: 3_000 },
  );
  expect(repaired).toBeGreaterThan(10);
});
