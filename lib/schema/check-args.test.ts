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

const ADDRESS = {
  type: 'object',
  properties: { country: { type: 'string' }, code: { type: 'string' }, floor: { type: 'integer' } },
  if: { properties: { country: { const: 'nl' } }, required: ['country'] },
  then: { properties: { code: { pattern: '^[0-9]{4}' } }, required: ['code'] },
  else: { properties: { lift: { type: 'boolean' } } },
  dependentRequired: { floor: ['code'] },
  dependentSchemas: {
    floor: { properties: { lift: { type: 'boolean' }, note: { type: 'number' } } },
  },
};

test('[SC33] of "then" and "else" the one holds that "if" leads to', () => {
  const check = compile(ADDRESS);
  expect(mended(check({ country: 'nl' }))).toEqual([{ path: 'code', problem: 'is required' }]);
  expect(check({ country: 'nl', code: '1234' }).ok).toBe(true);
  expect(check({ country: 'nl', code: '1234', lift: 'anything' }).ok).toBe(true);
  expect(check({ country: 'de', code: 'x' }).ok).toBe(true);
  expect(check({ country: 'de', lift: 'anything' }).ok).toBe(false);
  expect(compile({ type: 'object', properties: {}, then: false })({}).ok).toBe(true);
});

test('[SC33] a property makes others required, and gives them a schema', () => {
  const check = compile(ADDRESS);
  expect(mended(check({ floor: 3 }))).toEqual([
    { path: 'code', problem: 'is required beside "floor"' },
  ]);
  expect(check({ floor: 3, code: 'x', note: 'many' }).ok).toBe(false);
  expect(check({ note: 'many' }).ok).toBe(true);
});

test('[SC33] slips are repaired by the schema that holds', () => {
  const check = compile(ADDRESS);
  expect(check({ country: 'de', lift: 'true' })).toMatchObject({
    ...{ args: { country: 'de', lift: true }, repairs: ['lift'] },
  });
  expect(check({ country: 'nl', code: '1234', lift: 'true' })).toMatchObject({ repairs: [] });
  expect(check({ floor: '3', code: 'x', note: '5' })).toMatchObject({
    args: { floor: 3, code: 'x', note: 5 },
  });
});

test('[SC32] arguments that are no object are not quoted where the schema marks a secret', () => {
  const secret = { properties: { pin: { type: 'string', 'x-sensitive': true } } };
  const [hidden, shown] = [secret, {}].map((schema) => {
    const compiled = compileToolSchema({ type: 'object', ...schema });
    return compiled.ok && JSON.stringify(compiled.check('canary'));
  });
  expect(shown).toContain('canary');
  expect(hidden).toContain('must be an object');
  expect(hidden).not.toContain('canary');
});

test('[SC32] what a condition marks as a secret is one', () => {
  const secret = { properties: { pin: { type: 'string', 'x-sensitive': true } } };
  for (const more of [
    { if: {}, then: secret },
    { if: false, else: secret },
    { dependentSchemas: { pin: secret } },
  ]) {
    const compiled = compileToolSchema({ type: 'object', properties: {}, ...more });
    const kept = compiled.ok && compiled.withhold?.({ pin: '1234' }, '***');
    expect(kept, JSON.stringify(more)).toMatchObject({ args: { pin: '***' }, texts: ['1234'] });
  }
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

test('[SC11] E3: text that spells what the schema wants is repaired, at any depth', () => {
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

test('[SC12] E4: text stays text unless the schema wants exactly what it spells', () => {
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

test('[SC26] JSON text becomes the object or list that the schema asks for, and is repaired inside', () => {
  const check = compile({
    type: 'object',
    properties: {
      filter: { type: 'object', properties: { n: { type: 'integer' }, note: { type: 'string' } } },
      ids: { type: 'array', items: { type: 'integer' } },
      maybe: { anyOf: [{ $ref: '#/$defs/point' }, { type: 'null' }] },
      open: {},
      text: { type: 'string' },
    },
    $defs: { point: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] } },
  });
  expect(
    check({
      filter: ' {"n": "5", "note": "true"} ',
      ids: '[1, "2"]',
      maybe: '{"x": 1.5}',
      open: '{"x": 1}',
      text: '{"x": 1}',
    }),
  ).toEqual({
    ok: true,
    args: {
      filter: { n: 5, note: 'true' },
      ids: [1, 2],
      maybe: { x: 1.5 },
      open: '{"x": 1}',
      text: '{"x": 1}',
    },
    repairs: ['filter', 'filter.n', 'ids', 'ids[1]', 'maybe'],
  });
  const whole = compile({ type: 'object', properties: { n: { type: 'integer' } } });
  expect(whole('{"n": "5"}')).toEqual({ ok: true, args: { n: 5 }, repairs: ['', 'n'] });
});

test('[SC27] a lone value becomes a list of one where its item is then accepted', () => {
  const list = (items: unknown) => property({ type: 'array', items });
  const found = (result: ArgsCheck) => (result.ok ? [result.args.a, result.repairs] : 'refused');
  expect(found(list({ type: 'string' })({ a: 'x' }))).toEqual([['x'], ['a']]);
  expect(found(list({ type: 'integer' })({ a: '5' }))).toEqual([[5], ['a', 'a[0]']]);
  expect(found(list({ type: 'object' })({ a: { b: 1 } }))).toEqual([[{ b: 1 }], ['a']]);
  expect(found(list({ type: 'object' })({ a: '{"b": 1}' }))).toEqual([[{ b: 1 }], ['a']]);
  const open = { anyOf: [{ type: 'array', items: { enum: ['on', 'off'] } }, { type: 'null' }] };
  expect(found(property(open)({ a: 'on' }))).toEqual([['on'], ['a']]);
  for (const lone of ['perhaps', '', ' ', null, 5]) {
    expect(found(property(open)({ a: lone })), String(lone)).toEqual(
      lone === null ? [null, []] : 'refused',
    );
  }
  expect(mended(list({ type: 'boolean' })({ a: 'x' }))).toEqual([
    { path: 'a', problem: 'must be array, was the text "x"' },
  ]);
  const either = property({ type: ['string', 'array'], items: { type: 'string' } });
  expect(found(either({ a: 'x' }))).toEqual(['x', []]);
});

test('[SC28] text that begins as JSON and is none, or is cut off, is never run', () => {
  const check = compile({
    type: 'object',
    properties: {
      list: { type: 'array', items: { type: 'string' } },
      object: { type: 'object' },
      either: { type: ['object', 'array'], items: { type: 'string' } },
    },
  });
  const bad = ['["a", "b', '{"a": 1', "{'a': 1}", '[a]', '{"a": 1} more', '{"a": 1, ...}', '[1] '];
  for (const text of bad) expect(check({ list: text }).ok, text).toBe(false);
  for (const text of bad.slice(0, -1)) {
    expect(check({ object: text }).ok, text).toBe(false);
    expect(check({ either: text }).ok, text).toBe(false);
    expect(check(text).ok, text).toBe(false);
  }
  for (const hostile of [`{"__proto__": {}}`, '['.repeat(5_000), `{"a":`.repeat(70)]) {
    expect(check({ object: hostile, list: hostile, either: hostile }).ok).toBe(false);
  }
  // Within the limits as text, and too deep as what it spells.
  const lists = compile({
    type: 'object',
    additionalProperties: { $ref: '#/$defs/list' },
    $defs: { list: { type: 'array', items: { $ref: '#/$defs/list' } } },
  });
  const deep = (depth: number, inner: string) => `${'['.repeat(depth)}${inner}${']'.repeat(depth)}`;
  const asText = (depth: number) => ({ a: JSON.parse(deep(40, JSON.stringify(deep(depth, '')))) });
  expect(lists(asText(20)).ok).toBe(true);
  expect(mended(lists(asText(40)))).toEqual([
    { path: '', problem: 'must be nested at most 64 deep' },
  ]);
});

test('[SC29] only what its schema refuses is repaired, in the one branch that is then valid', () => {
  const shape = (kind: string, more: object) => ({
    type: 'object',
    properties: { kind: { const: kind }, ...more },
    required: ['kind'],
  });
  const check = property({
    anyOf: [
      shape('sum', { size: { type: 'integer' } }),
      shape('text', { size: { type: 'string' } }),
      shape('count', { size: { type: 'integer' }, tags: { type: 'array' } }),
      { type: 'null' },
    ],
  });
  expect(check({ a: { kind: 'text', size: '5' } })).toMatchObject({ ok: true, repairs: [] });
  expect(check({ a: { kind: 'count', size: '5', tags: 'x' } })).toEqual({
    ok: true,
    args: { a: { kind: 'count', size: 5, tags: ['x'] } },
    repairs: ['a.size', 'a.tags'],
  });
  expect(check({ a: { kind: 'other', size: '5' } }).ok).toBe(false);
  const sizes = (type: string) => ({ properties: { size: { type } } });
  const beside = {
    properties: { a: { anyOf: [sizes('integer'), sizes('string')] }, b: sizes('integer') },
  };
  expect(mended(compile(beside)({ a: { size: '5' }, b: { size: '5' } }))).toEqual({
    a: { size: '5' },
    b: { size: 5 },
  });
  expect(mended(property({ enum: [1, 2, true] })({ a: '2' }))).toEqual({ a: 2 });
  expect(property({ enum: [1, 'auto'] })({ a: '1' }).ok).toBe(false);
});

test('[SC30] null stands for a property that is left out, unless it is required or takes null', () => {
  const check = compile({
    type: 'object',
    properties: {
      limit: { type: 'integer' },
      cursor: { type: ['string', 'null'] },
      name: { type: 'string' },
      open: {},
      deep: {
        anyOf: [{ type: 'object', properties: { n: { type: 'integer' } } }, { type: 'null' }],
      },
    },
    required: ['name'],
    additionalProperties: { type: 'number' },
  });
  expect(check({ limit: null, cursor: null, name: 'x', open: null, deep: { n: null } })).toEqual({
    ok: true,
    args: { cursor: null, name: 'x', open: null, deep: {} },
    repairs: ['limit', 'deep.n'],
  });
  expect(mended(check({ name: null }))).toEqual([
    { path: 'name', problem: 'must be string, was null' },
  ]);
  expect(check({ name: 'x', other: null }).ok).toBe(false);
});
