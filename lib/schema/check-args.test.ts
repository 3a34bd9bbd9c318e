import { expect, test } from 'vitest';
import { type ArgsCheck, compileToolSchema } from './compile-tool-schema.ts';

const compile = (schema: unknown) => {
  const compiled = compileToolSchema(schema);
  if (!compiled.ok) throw new Error(`${compiled.code}: ${compiled.message}`);
  return compiled.check;
};
const property = (schema: unknown, more: object = {}) =>
  compile({ type: 'object', properties: { a: schema }, ...more });
const mended = (result: ArgsCheck) => (result.ok ? result.args : result.details);
const nest = (depth: number, inner: unknown = {}) => {
  let value = inner;
  for (let i = 0; i < depth; i += 1) value = { properties: { a: value } };
  return value;
};

test('[SC18] formats that are known are checked, and fractions as decimals', () => {
  expect(property({ format: 'date' })({ a: '2026-02-29' }).ok).toBe(false);
  expect(property({ format: 'date-time' })({ a: '2024-02-29T10:00:00Z' }).ok).toBe(true);
  expect(property({ format: 'made-up' })({ a: 'x' }).ok).toBe(true);
  expect(property({ multipleOf: 0.1 })({ a: 0.3 }).ok).toBe(true);
});

test('[SC19] patterns count inside other keywords', () => {
  const either = property({ anyOf: [{ pattern: '^a' }, { pattern: '^b' }] });
  expect([either({ a: 'ax' }).ok, either({ a: 'bx' }).ok, either({ a: 'cx' }).ok]).toEqual([
    true,
    true,
    false,
  ]);
  expect(property({ not: { pattern: '^a' } })({ a: 'ab' }).ok).toBe(false);
  const byName = compile({
    type: 'object',
    patternProperties: { '^n_': { type: 'number' } },
    additionalProperties: false,
  });
  expect([byName({ n_x: 1 }).ok, byName({ n_x: 'x' }).ok, byName({ m: 1 }).ok]).toEqual([
    true,
    false,
    false,
  ]);
});

test('[SC11] text that spells what the schema wants is repaired, at any depth', () => {
  const check = compile({
    type: 'object',
    properties: {
      flag: { type: 'boolean' },
      deep: { type: 'object', properties: { n: { type: 'integer' } } },
      list: { type: 'array', items: { type: 'number' } },
      both: { allOf: [{ $ref: '#/$defs/on' }, { description: 'x' }] },
      maybe: { anyOf: [{ type: 'number' }, { type: 'null' }] },
    },
    additionalProperties: { type: 'boolean' },
    $defs: { on: { type: 'boolean' } },
  });
  expect(
    check({
      flag: 'true',
      deep: { n: '5' },
      list: [1, '2.5', '-1e3'],
      both: 'false',
      maybe: '7',
      more: 'true',
    }),
  ).toEqual({
    ok: true,
    args: { flag: true, deep: { n: 5 }, list: [1, 2.5, -1000], both: false, maybe: 7, more: true },
    repairs: ['flag', 'deep.n', 'list[1]', 'list[2]', 'both', 'maybe', 'more'],
  });
});

test('[SC12] text stays text unless the schema wants exactly what it spells', () => {
  const noted = compile({
    type: 'object',
    properties: {
      note: { type: 'string' },
      open: {},
      flag: { type: 'boolean' },
      either: { type: ['string', 'number'] },
    },
  });
  expect(mended(noted({ note: 'true', open: 'true', flag: 'true', either: '5' }))).toEqual({
    note: 'true',
    open: 'true',
    flag: true,
    either: '5',
  });
  for (const text of ['', ' 5', '0x10', '1e999', '05', 'NaN', '5.', '9007199254740993', 'True']) {
    expect(property({ type: 'number' })({ a: text }).ok, text).toBe(false);
  }
  expect(property({ type: 'integer' })({ a: '2.5' }).ok).toBe(false);
  expect(property({ type: 'string', allOf: [{ type: 'number' }] })({ a: '5' })).toMatchObject({
    ok: false,
  });
});

test('[SC14] arguments are never changed in place', () => {
  const args = { a: [{ a: 'true' }] };
  const before = structuredClone(args);
  const check = property({ items: { properties: { a: { type: 'boolean' } } } });
  expect(check(args)).toMatchObject({ ok: true, repairs: ['a[0].a'] });
  expect(args).toEqual(before);
});

test('[SC15] problems show where, what would be right and what was there', () => {
  const check = compile({
    type: 'object',
    properties: {
      flag: { type: 'boolean' },
      mode: { enum: ['on', 'off'] },
      list: { items: { type: 'integer', minimum: 1 } },
      to: { anyOf: [{ type: 'number' }, { type: 'null' }] },
    },
    required: ['name'],
    additionalProperties: false,
  });
  expect(check({ flag: 'perhaps', mode: 'x', list: [0], to: true, odd: 1 })).toEqual({
    ok: false,
    details: [
      { path: 'name', problem: 'is required' },
      { path: 'flag', problem: 'must be boolean, was the text "perhaps"' },
      { path: 'mode', problem: 'must be one of "on", "off", was the text "x"' },
      { path: 'list[0]', problem: 'must be at least 1, was 0' },
      { path: 'to', problem: 'must be number or null, was true' },
      { path: 'odd', problem: 'is not known; known are flag, mode, list, to' },
    ],
  });
  const many = property({ items: { type: 'null' } })({ a: Array.from({ length: 500 }, () => 1) });
  expect(many.ok ? 0 : many.details.length).toBe(20);
});

test('[SC16] arguments are an object within limits', () => {
  const check = compile({ type: 'object' });
  for (const args of [
    null,
    'x',
    3,
    [],
    undefined,
    { a: 'x'.repeat(300_000) },
    { a: '语'.repeat(100_000) },
    nest(200),
  ]) {
    const result = check(args);
    expect(result.ok).toBe(false);
    expect(result.ok ? [] : result.details).toHaveLength(1);
  }
});

test('[SC17] a schema made to be slow ends with a refusal', () => {
  const twice = { type: 'object', properties: { n: { $ref: '#/$defs/x' } } };
  const doubling = compile({
    ...twice,
    $defs: { x: { anyOf: [twice, twice] } },
  });
  let deep: object = { n: 1 };
  for (let i = 0; i < 55; i += 1) deep = { n: deep };
  const costly = property({
    items: { enum: Array.from({ length: 1_900 }, (_, i) => i) },
    uniqueItems: true,
  });
  const list = Array.from({ length: 40_000 }, (_, i) => i % 1_900);
  const patterns = property({ items: { pattern: '^((a|b|c|[d-z]){0,10}x?){0,12}$' } });
  const texts = Array.from({ length: 60 }, () => 'ab'.repeat(2_000));
  const wide = property({
    items: { anyOf: Array.from({ length: 900 }, () => ({ type: 'null' })) },
  });
  for (const result of [
    doubling({ n: deep }),
    costly({ a: list }),
    patterns({ a: texts }),
    wide({ a: list }),
  ]) {
    expect(result.ok).toBe(false);
  }
});
