import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { RE2JS } from 're2js';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { compileToolSchema } from './compile-tool-schema.ts';

const compile = (schema: unknown) => {
  const compiled = compileToolSchema(schema);
  if (!compiled.ok) throw new Error(`${compiled.code}: ${compiled.message}`);
  return compiled.check;
};
const property = (schema: unknown, more: object = {}) =>
  compile({ type: 'object', properties: { a: schema }, ...more });
const uncheckedOf = (schema: unknown) => {
  const compiled = compileToolSchema(schema);
  if (!compiled.ok) throw new Error(`${compiled.code}: ${compiled.message}`);
  return compiled.unchecked;
};
const codeOf = (schema: unknown) => {
  const compiled = compileToolSchema(schema);
  if (!compiled.ok) expect(compiled.message.length).toBeGreaterThan(10);
  return compiled.ok ? 'ok' : compiled.code;
};
const nest = (depth: number, inner: unknown = {}) => {
  let value = inner;
  for (let i = 0; i < depth; i += 1) value = { properties: { a: value } };
  return value;
};
const chain = (length: number, link: (next: object) => object, extra: object = {}) => ({
  type: 'object',
  properties: { a: { $ref: '#/$defs/d0' } },
  $defs: Object.fromEntries(
    Array.from({ length }, (_, i) => [
      `d${i}`,
      i + 1 < length ? link({ $ref: `#/$defs/d${i + 1}` }) : extra,
    ]),
  ),
});

test('[SC1] T46: a schema beyond the limits is refused with its code', () => {
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`p${i}`, {}]));
  expect(codeOf({ type: 'object', properties: many })).toBe('schema_too_large');
  expect(codeOf({ type: 'object', description: 'x'.repeat(66_000) })).toBe('schema_too_large');
  const values = Array.from({ length: 1_000_000 }, (_, i) => i);
  expect(codeOf({ type: 'object', properties: { a: { enum: values } } })).toBe('schema_too_large');
  expect(codeOf(nest(5_000))).toBe('schema_too_deep');
  expect(codeOf(nest(33))).toBe('schema_too_deep');
  expect(codeOf(nest(30))).toBe('ok');
});

test('[SC2] a schema that may be of an object is taken, whatever its root is', () => {
  const text = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
  for (const schema of [
    { ...text, type: ['object', 'null'] },
    { anyOf: [text, { type: 'object', properties: { b: {} }, required: ['b'] }] },
    { oneOf: [text, { type: 'null' }] },
    { allOf: [text] },
    { $ref: '#/definitions/In', definitions: { In: text } },
  ]) {
    const check = compile(schema);
    expect([check({ a: 'x' }).ok, check({ a: 1 }).ok], JSON.stringify(schema)).toEqual([
      true,
      false,
    ]);
  }
  for (const schema of [{}, { $schema: 'http://json-schema.org/draft-07/schema#' }]) {
    expect(compile(schema)({ any: 1 }).ok).toBe(true);
  }
  for (const schema of ['string', null, 3, [], undefined, true, { type: 'string' }]) {
    expect(codeOf(schema), JSON.stringify(schema)).not.toBe('ok');
  }
  expect(compileToolSchema({ type: ['string', 'null'] })).toMatchObject({
    code: 'schema_not_object',
    message: expect.stringContaining('its "type" was string or null'),
  });
});

test('[SC2] an object without properties takes any object', () => {
  expect(compile({ type: 'object' })({ any: [1] })).toEqual({
    ok: true,
    args: { any: [1] },
    repairs: [],
  });
});

test('[SC3] annotations may have any value, and a property the name of any keyword', () => {
  const odd = { title: {}, description: 1, examples: { a: 1 }, deprecated: 'yes', $comment: [] };
  expect(uncheckedOf({ type: 'object', ...odd, properties: { a: odd } })).toEqual([]);
  const names = ['title', 'contains', 'nullable', 'format', 'constructor', 'if'];
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
  const check = compile({ type: 'object', properties, required: ['contains'] });
  expect([check({ contains: 'x' }).ok, check({ contains: {} }).ok]).toEqual([true, false]);
});

test.each<[string, unknown]>([
  ['type', 'no-such-type'],
  ['type', []],
  ['required', true],
  ['properties', 'none'],
  ['anyOf', {}],
  ['anyOf', []],
  ['minimum', 'few'],
  ['minLength', -1],
  ['enum', 'a'],
  ['items', 'string'],
  ['multipleOf', 0],
  ['if', 1],
  ['dependentSchemas', { a: 1 }],
  ['dependentRequired', { a: [1] }],
  ['pattern', '(?<=a)b'],
  ['pattern', String.raw`(a)\1`],
  ['pattern', '('],
  ['patternProperties', { '(': { type: 'string' } }],
  ['$ref', 'https://schemas.test/a.json'],
  ['$ref', '#/$defs/none'],
  ['$dynamicRef', '#none'],
  ['unevaluatedProperties', false],
  ['divisibleBy', 2],
  ['disallow', 'any'],
  ['extends', { type: 'string', minLength: 9 }],
])('[SC23] "%s": %j is named and left out, and the rest is checked', (keyword, value) => {
  const part = { allOf: [{}], [keyword]: value };
  const properties = { a: part, b: { type: 'string' } };
  const schema = { type: 'object', properties, $defs: { unused: { type: 'odd' } } };
  const [place = '', ...more] = uncheckedOf(schema);
  expect(more).toEqual([]);
  expect(place).toContain(`#/properties/a/${keyword.replace('$dynamicRef', '$ref')}`);
  const check = compile(schema);
  for (const a of ['x', 1, null, [1], { b: 1 }]) expect(check({ a, b: 'x' }).ok).toBe(true);
  expect(check({ a: 1, b: 1 }).ok).toBe(false);
});

test('[SC23] what a part that is not checked would refuse is not accepted by mistake', () => {
  const odd = { pattern: '(?<=a)b' };
  const cases: [unknown, unknown][] = [
    [{ not: odd }, 'x'],
    [{ oneOf: [odd, { type: 'string' }] }, 'x'],
    [{ if: odd, then: { type: 'number' }, else: { type: 'number' } }, 'x'],
    [{ contains: odd, maxContains: 1 }, ['x', 'y']],
    [{ not: { properties: { b: { allOf: [{ $ref: '#/$defs/odd' }] } } } }, { b: 'x' }],
    [{ patternProperties: { '(?<=a)b': {} }, additionalProperties: false }, { ab: 1 }],
    [{ prefixItems: 'none', items: false }, [1]],
  ];
  for (const [part, a] of cases) {
    const schema = { type: 'object', properties: { a: part }, $defs: { odd } };
    expect(uncheckedOf(schema), JSON.stringify(part)).toHaveLength(1);
    expect(compile(schema)({ a }).ok, JSON.stringify(part)).toBe(true);
  }
  const both = { dependencies: { a: ['b'] }, dependentRequired: { a: [] } };
  expect(uncheckedOf({ type: 'object', ...both })).toEqual(['#/dependencies']);
  const many = Array.from({ length: 50 }, () => ({ type: 'odd' }));
  expect(uncheckedOf({ type: 'object', allOf: many })).toHaveLength(20);
});

const TUPLE = [{ type: 'string' }, { type: 'number' }];
test.each<[string, unknown, unknown[], unknown[]]>([
  ['OpenAPI: nullable', { type: 'string', nullable: true }, ['x', null], [1]],
  ['nullable beside values', { enum: ['x'], nullable: true }, ['x', null], ['y']],
  ['nullable beside a reference', { $ref: '#/$defs/text', nullable: true }, ['x', null], [1]],
  ['an unset nullable', { type: 'string', nullable: false }, ['x'], [1]],
  ['draft 4: an excluded minimum', { minimum: 0, exclusiveMinimum: true }, [1], [0, -1]],
  ['draft 4: an excluded maximum', { maximum: 9, exclusiveMaximum: true }, [8], [9]],
  ['draft 4: no excluded minimum', { minimum: 0, exclusiveMinimum: false }, [0], [-1]],
  ['draft 4: references by id', { $ref: 'urn:odd#' }, [1], ['x']],
  ['draft 3: any type', { type: 'any' }, [1, 'x', null], []],
  ['draft 7: dependencies', { dependencies: { b: ['c'] } }, [{ b: 1, c: 1 }, {}], [{ b: 1 }]],
  [
    'draft 7: dependencies by schema',
    { dependencies: { b: { required: ['c'] } } },
    [{ b: 1, c: 1 }, {}],
    [{ b: 1 }],
  ],
  [
    'draft 7: a tuple',
    { items: TUPLE, additionalItems: false },
    [['a', 1], ['a']],
    [['a', 1, 2], [1]],
  ],
  ['draft 7: additionalItems alone', { additionalItems: false }, [[1, 2]], []],
  [
    'draft 2019: a recursive reference',
    { items: { $recursiveRef: '#/$defs/text' } },
    [['a']],
    [[1]],
  ],
  ['draft 2020: a dynamic reference', { $dynamicRef: '#number' }, [1], ['x']],
  ['an anchor', { $ref: '#number' }, [1], ['x']],
  ['an id', { $ref: 'https://schemas.test/size' }, [1], ['x']],
  ['a place within an id', { $ref: 'https://schemas.test/size#/$defs/deep' }, [true], ['x']],
  ['an odd name', { $ref: '#/$defs/a~1b%20%5Bc%5D' }, ['x'], [1]],
  ['contains', { contains: { type: 'string' } }, [['a', 1], ['a']], [[1], []]],
  [
    'so many of them',
    { contains: { type: 'string' }, minContains: 2, maxContains: 3 },
    [['a', 'b']],
    [['a'], ['a', 'b', 'c', 'd']],
  ],
  [
    'unevaluatedProperties alone',
    { properties: { b: {} }, unevaluatedProperties: false },
    [{ b: 1 }],
    [{ c: 1 }],
  ],
  [
    'unevaluatedItems alone',
    { prefixItems: TUPLE, unevaluatedItems: false },
    [['a', 1]],
    [['a', 1, 2]],
  ],
  [
    'Go: null keywords',
    { type: 'object', required: null, properties: null, enum: null },
    [{}, { b: 1 }],
    ['x', 1],
  ],
  [
    'PHP: empty lists as maps',
    { type: 'object', properties: [], additionalProperties: false },
    [{}],
    [{ b: 1 }],
  ],
  ['a const of null', { const: null }, [null], [1]],
  ['upper case', { type: 'INTEGER' }, [1], ['x', 1.5]],
  ['numbers as text', { type: 'number', minimum: '0', maximum: '9' }, [0, 9], [-1, 10]],
])('[SC24] %s', (_, part, good, bad) => {
  const schema = {
    type: 'object',
    properties: { a: part, odd: { id: 'urn:odd#', type: 'number' } },
    $defs: {
      text: { type: 'string' },
      Size: { $anchor: 'number', $dynamicAnchor: 'number', type: 'number' },
      'a/b [c]': { type: 'string' },
      id: {
        $id: 'https://schemas.test/size',
        type: 'number',
        $defs: { deep: { type: 'boolean' } },
      },
    },
  };
  expect(uncheckedOf(schema)).toEqual([]);
  const check = compile(schema);
  for (const a of good)
    expect(check({ a }), JSON.stringify(a)).toMatchObject({ ok: true, repairs: [] });
  for (const a of bad) {
    const { ok, ...rest } = check({ a });
    expect(ok && rest, JSON.stringify(a)).not.toMatchObject({ repairs: [] });
  }
});

test('[SC5] [SC6] a condition that leads back to itself, or doubles at each level, is refused', () => {
  for (const keyword of ['if', 'then', 'else', 'dependentSchemas']) {
    const back = { $ref: '#/properties/a' };
    const loop = keyword === 'dependentSchemas' ? { [keyword]: { x: back } } : { [keyword]: back };
    const whole = keyword === 'if' || keyword === 'dependentSchemas' ? loop : { if: {}, ...loop };
    expect(codeOf({ type: 'object', properties: { a: whole } }), keyword).toBe('schema_ref_cycle');
  }
  const $defs = Object.fromEntries(
    Array.from({ length: 20 }, (_, n) => {
      const next = { $ref: `#/$defs/d${n + 1}` };
      return [`d${n}`, { if: next, then: next, else: next }];
    }),
  );
  const bomb = { type: 'object', properties: { a: { $ref: '#/$defs/d0' } } };
  expect(codeOf({ ...bomb, $defs: { ...$defs, d20: {} } })).toBe('schema_too_large');
});

test('[SC23] what zod writes is checked whole', () => {
  const tree = z.object({
    name: z.string(),
    get kids() {
      return z.array(tree);
    },
  });
  const args = z.object({
    text: z.string().min(1).max(9).regex(/^a/).describe('A text'),
    when: z.iso.datetime().optional(),
    count: z.int().positive().multipleOf(2).default(2),
    maybe: z.number().nullable(),
    mode: z.enum(['on', 'off']),
    either: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('a'), size: z.number() }),
      z.object({ kind: z.literal('b') }),
    ]),
    both: z.intersection(z.object({ x: z.number() }), z.object({ y: z.number() })),
    pair: z.tuple([z.string(), z.number()]),
    table: z.record(z.string(), z.number()),
    none: z.never().optional(),
    tree,
  });
  const check = compile(z.toJSONSchema(args, { io: 'input' }));
  const good = {
    text: 'ab',
    maybe: null,
    mode: 'on',
    either: { kind: 'b' },
    both: { x: 1, y: 2 },
    pair: ['a', 1],
    table: { n: 1 },
    tree: { name: 'root', kids: [{ name: 'leaf', kids: [] }] },
  };
  expect(check(good)).toEqual({ ok: true, args: good, repairs: [] });
  expect(check({ ...good, tree: { name: 'root', kids: [{ name: 7, kids: [] }] } }).ok).toBe(false);
});

/** Each form of text that zod has, as it writes it. */
const ZOD_TEXTS: [string, z.ZodType, string, string][] = [
  ['email', z.email(), 'a.b@c.test', '.a@c.test'],
  ['email of HTML', z.email({ pattern: z.regexes.html5Email }), 'a@b', 'a@-b'],
  ['hostname', z.hostname(), 'a-b.test', '-a.test'],
  ['domain', z.string().regex(z.regexes.domain), 'a.test', `${'a.'.repeat(127)}test`],
  ['duration', z.iso.duration(), 'P1DT2H', 'P'],
  [
    'datetime',
    z.iso.datetime({ offset: true, local: true }),
    '2024-02-29T10:00:00Z',
    '2023-02-29T10:00:00Z',
  ],
  ['emoji', z.emoji(), '😀', 'x'],
  ['uuid', z.uuid(), '9491d710-3185-4e06-bea0-6a2f275345e0', 'x'],
  ['cuid2', z.cuid2(), 'tz4a98xxat96iws9zmbrgj3a', 'A'],
  ['nanoid', z.nanoid(), 'lfNZluvAxMkf7Q8C5H-QS', '!'],
  ['ipv6', z.ipv6(), '::1', '::x'],
  ['base64', z.base64(), 'aGk=', 'a='],
  ['url', z.url(), 'https://a.test', 'a'],
];

test.each(ZOD_TEXTS)('[SC7] zod’s form of %s is checked', (_, type, good, bad) => {
  const schema = z.toJSONSchema(z.object({ a: type }));
  expect(uncheckedOf(schema)).toEqual([]);
  expect([compile(schema)({ a: good }).ok, compile(schema)({ a: bad }).ok]).toEqual([true, false]);
});

test.each([
  [String.raw`^(?=.*[A-Z])(?=.*\d)(?!.*\s).{8,}$`, 'Abcdefg1', 'abcdefg1'],
  [
    String.raw`^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$`,
    'a@b.test',
    'a..b@c.test',
  ],
  [String.raw`^[A-Z]{2}(?!00|01|99)\d{2}$`, 'AB12', 'AB00'],
  [String.raw`^(?!(?:\(|[)(]))[(a-z]+$`, 'abc', '(abc'],
  ['^(?!a|b)c|d', undefined, undefined],
  ['^a*(?!b)c', undefined, undefined],
  ['^.{1,5000}$', 'a'.repeat(5_000), 'a'.repeat(5_001)],
  ['^.{3}$', '😀ab', '😀a'],
])('[SC7] look-aheads at the beginning of %s are patterns of their own', (pattern, good, bad) => {
  const schema = { type: 'object', properties: { a: { type: 'string', pattern } } };
  expect(uncheckedOf(schema)).toEqual(good === undefined ? ['#/properties/a/pattern'] : []);
  if (good === undefined) return;
  expect([good, bad].map((a) => compile(schema)({ a }).ok)).toEqual([true, false]);
  expect([good, bad].map((text) => new RegExp(pattern, 'u').test(text))).toEqual([true, false]);
});

test('[SC5] T46: references that never end are refused, recursion through parts is fine', () => {
  expect(codeOf({ $ref: '#' })).not.toBe('ok');
  expect(codeOf({ type: 'object', $ref: '#' })).toBe('schema_ref_cycle');
  const knot = { a: { $ref: '#/$defs/b' }, b: { anyOf: [{ $ref: '#/$defs/a' }, {}] } };
  expect(codeOf({ type: 'object', properties: { x: { $ref: '#/$defs/a' } }, $defs: knot })).toBe(
    'schema_ref_cycle',
  );
  const tree = {
    type: 'object',
    properties: { n: { type: 'integer' }, kids: { items: { $ref: '#' } } },
  };
  expect(compile(tree)({ n: 1, kids: [{ n: 2, kids: [{ n: '3' }] }] })).toMatchObject({
    repairs: ['kids[0].kids[0].n'],
  });
});

test('[SC6] T46: references that double at each level are refused', () => {
  expect(codeOf(chain(24, (next) => ({ anyOf: [next, next] })))).toBe('schema_too_large');
  expect(codeOf(chain(600, (next) => next))).toBe('schema_too_large');
  expect(codeOf(chain(10, (next) => ({ anyOf: [next, next] })))).toBe('ok');
});

test('[SC7] T45: patterns are tested in linear time, or not at all', () => {
  const check = property({ type: 'string', pattern: '^(a+)+$' });
  expect(check({ a: `${'a'.repeat(30)}!` }).ok).toBe(false);
  expect(check({ a: 'a'.repeat(5_000) }).ok).toBe(true);
  for (const pattern of ['a(?=a)b', '(a{900}){900}', 'a{500}'.repeat(30), '\\p{L}'.repeat(300)]) {
    const named = { type: 'object', patternProperties: { [pattern]: {} } };
    expect(uncheckedOf({ type: 'object', properties: { a: { pattern } } })).toHaveLength(1);
    expect(uncheckedOf(named)).toHaveLength(1);
  }
});

test('[SC7] patterns that are too large together are refused before they are compiled', () => {
  const compiled = vi.spyOn(RE2JS, 'compile');
  const large = Array.from({ length: 500 }, (_, i) => `(?:a{30}){30}${i}`);
  const byPattern = Object.fromEntries(large.map((pattern) => [pattern, true]));
  const byName = Object.fromEntries(large.map((pattern) => [pattern, { pattern }]));
  expect(uncheckedOf({ type: 'object', patternProperties: byPattern })).toHaveLength(1);
  expect(uncheckedOf({ type: 'object', properties: byName })).toHaveLength(20);
  expect(compiled.mock.calls.length).toBeLessThan(15);
  compiled.mockRestore();
});

test.each([
  ['a class of many properties', `[${'\\p{L}'.repeat(90)}]`],
  ['a long class', `[${'ab'.repeat(950)}]`],
  ['a wide range without regard to case', '(?i)[B-\u{1E942}]'],
  ['the same behind a class by name', '(?i)[[:alpha:]B-\u{1E942}]'],
  ['the same, written with escapes', '(?i)[\\x{42}-\\x{1E942}]'],
])('[SC7] %s counts as what it takes to compile it', (_, pattern) => {
  const properties = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, { pattern }]));
  expect(uncheckedOf({ type: 'object', properties: properties(3) })).toEqual([]);
  expect(uncheckedOf({ type: 'object', properties: properties(26) })).not.toEqual([]);
});

test('[SC7] usual patterns of 300 properties are accepted, also without regard to case', () => {
  for (const pattern of ['^[a-z]{1,5}$', '(?i)^[a-z0-9._+\\-]+@[a-z0-9]', '(?i)[а-яё]']) {
    const properties = Array.from({ length: 300 }, (_, i) => [`p${i}`, { pattern }]);
    const schema = { type: 'object', properties: Object.fromEntries(properties) };
    expect(uncheckedOf(schema), pattern).toEqual([]);
  }
});

test('[SC7] programs of patterns are in memory only while they are tested', () => {
  const patterns = Array.from({ length: 300 }, (_, i) => [`p${i}`, { pattern: `^a${i}$` }]);
  const schema = { type: 'object', properties: Object.fromEntries(patterns) };
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  const heapBytes = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = heapBytes();
  const checks = Array.from({ length: 30 }, () => compile(schema));
  // With their programs each of them takes 1.8 MB.
  expect(heapBytes() - before).toBeLessThan(30 * 400_000);
  const outcomes = checks.map((check) => [check({ p7: 'a7' }).ok, check({ p7: 'a8' }).ok]);
  expect(outcomes).toEqual(checks.map(() => [true, false]));
});

test('[SC8] __proto__ is not a key; constructor is a name like any other', () => {
  expect(codeOf(JSON.parse('{"type":"object","properties":{"__proto__":{}}}'))).toBe(
    'schema_invalid',
  );
  const check = property({}, { required: ['constructor'] });
  expect(check({}).ok).toBe(false);
  expect(check({ constructor: 1 }).ok).toBe(true);
  expect(check(JSON.parse('{"constructor":1,"a":{"__proto__":{"x":1}}}')).ok).toBe(false);
  const closed = compile({ type: 'object', properties: {}, additionalProperties: false });
  expect(closed({ toString: 1 }).ok).toBe(false);
});

test('a root of no known type, and one that leads out of the schema, is refused', () => {
  expect(codeOf({ type: 'no-such-type' })).toBe('schema_invalid');
  expect(codeOf({ $ref: 'http://127.0.0.1:1/x' })).toBe('schema_invalid');
  expect(uncheckedOf({ type: 'object', $ref: 'http://127.0.0.1:1/x' })).toEqual(['#/$ref']);
  expect(uncheckedOf({ type: 'object', properties: { a: { type: 'any-such' } } })).toEqual([
    '#/properties/a/type',
  ]);
});
