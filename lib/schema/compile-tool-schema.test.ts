import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { RE2JS } from 're2js';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { compileToolSchema } from './compile-tool-schema.ts';
import { REFUSED_KEYWORDS } from './read-schema.ts';

const compile = (schema: unknown) => {
  const compiled = compileToolSchema(schema);
  if (!compiled.ok) throw new Error(`${compiled.code}: ${compiled.message}`);
  return compiled.check;
};
const property = (schema: unknown, more: object = {}) =>
  compile({ type: 'object', properties: { a: schema }, ...more });
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
  expect(codeOf(nest(17))).toBe('schema_too_deep');
  expect(codeOf(nest(12))).toBe('ok');
});

test('[SC2] only a schema of an object is taken', () => {
  expect(codeOf({ type: 'object' })).toBe('ok');
  expect(codeOf({ properties: {} })).toBe('ok');
  for (const schema of [{ type: 'string' }, { type: ['object', 'null'] }, {}, true]) {
    expect(codeOf(schema), JSON.stringify(schema)).toBe('schema_not_object');
  }
  for (const schema of ['string', null, 3, [], undefined]) expect(codeOf(schema)).not.toBe('ok');
});

test.each([
  [{ type: 'string' }, 'its "type" was string'],
  [{ type: ['object', 'null'] }, 'its "type" was object or null'],
  [{}, 'it had neither "type" nor "properties"'],
  [true, 'it was true'],
])('[SC2] for %j the refusal names what it was', (schema, what) => {
  expect(compileToolSchema(schema)).toMatchObject({ message: expect.stringContaining(what) });
});

test('[SC25] a refusal names its place in the schema, the root excepted', () => {
  const messageOf = (schema: unknown) => {
    const compiled = compileToolSchema(schema);
    return compiled.ok ? '' : compiled.message;
  };
  const parts = { a: { type: 'object' }, 'b/c': { items: { anyOf: [{}, { contains: {} }] } } };
  expect(messageOf({ type: 'object', properties: parts })).toMatch(
    /^At "#\/properties\/b~1c\/items\/anyOf\/1": The keyword "contains" is not supported: write "items"/,
  );
  const later = { anyOf: [{}], properties: { a: { items: {} } }, $defs: 3 };
  expect(messageOf({ type: 'object', properties: { x: later } })).toMatch(
    /^At "#\/properties\/x": "\$defs" in the schema must be an object/,
  );
  expect(messageOf({ type: 'object', contains: {} })).toMatch(/^The keyword "contains"/);
});

test('[SC2] an object without properties takes any object', () => {
  expect(compile({ type: 'object' })({ any: [1] })).toEqual({
    ok: true,
    args: { any: [1] },
    repairs: [],
  });
});

test.each<[string, unknown]>([
  ['title', {}],
  ['description', { a: 1 }],
  ['$comment', ['a']],
  ['$id', 1],
  ['$schema', true],
  ['$anchor', null],
  ['format', {}],
  ['pattern', {}],
  ['contentEncoding', 1],
  ['contentMediaType', 1],
  ['deprecated', 'yes'],
  ['readOnly', 1],
  ['writeOnly', null],
  ['examples', { first: 1 }],
  ['enum', { first: 1 }],
  ['$vocabulary', []],
])('[SC3] "%s" of the wrong type is refused by its name, at any depth', (keyword, value) => {
  const bad = { type: 'string', [keyword]: value };
  for (const schema of [
    { type: 'object', [keyword]: value },
    { type: 'object', properties: { a: bad } },
    { type: 'object', properties: { a: { type: 'array', items: bad } } },
    { type: 'object', properties: {}, $defs: { unused: bad } },
  ]) {
    expect(compileToolSchema(schema)).toMatchObject({
      ok: false,
      code: 'schema_invalid',
      message: expect.stringContaining(`"${keyword}"`),
    });
  }
});

test('[SC3] a property may have the name of a keyword, and any default', () => {
  const named = ['title', 'description', 'examples', 'deprecated', 'format', '$comment'];
  const properties = Object.fromEntries(named.map((name) => [name, { type: 'object' }]));
  expect(codeOf({ type: 'object', properties })).toBe('ok');
  const annotated = { title: 'A', examples: [{}], default: { a: 1 }, deprecated: false };
  expect(codeOf({ type: 'object', properties: { a: annotated } })).toBe('ok');
});

test('[SC3] unknown types and misused keywords are refused', () => {
  for (const bad of [
    { type: 'no-such-type' },
    { type: [] },
    { required: true },
    { properties: [] },
    { anyOf: {} },
    { minimum: '3' },
    { minLength: -1 },
    { enum: 'a' },
    { items: 'string' },
    { multipleOf: 0 },
  ]) {
    expect(codeOf({ type: 'object', properties: { a: bad } }), JSON.stringify(bad)).toBe(
      'schema_invalid',
    );
  }
});

test('[SC3] conditions with values of the wrong kind are refused', () => {
  for (const bad of [
    { if: 1 },
    { then: 'x' },
    { if: {}, else: [{}] },
    { dependentSchemas: [] },
    { dependentSchemas: { a: 1 } },
    { dependentRequired: { a: 'b' } },
    { dependentRequired: { a: [1] } },
    { dependentRequired: ['a'] },
  ]) {
    expect(codeOf({ type: 'object', properties: { a: bad } }), JSON.stringify(bad)).toBe(
      'schema_invalid',
    );
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

const REFUSED: [string, unknown][] = [
  ['dependencies', {}],
  ['unevaluatedProperties', false],
  ['unevaluatedItems', false],
  ['additionalItems', false],
  ['contains', {}],
  ['minContains', 1],
  ['maxContains', 1],
  ['$dynamicRef', '#'],
  ['$recursiveRef', '#'],
  ['nullable', true],
];

test.each(REFUSED)('[SC23] "%s" is refused by its name, at any depth', (keyword, value) => {
  const bad = { [keyword]: value };
  for (const schema of [
    { type: 'object', ...bad },
    { type: 'object', properties: { a: bad } },
    { type: 'object', properties: { a: { anyOf: [{}, { not: bad }] } } },
    { type: 'object', properties: {}, $defs: { unused: bad } },
  ]) {
    expect(compileToolSchema(schema)).toEqual({
      ok: false,
      code: 'schema_keyword',
      message: expect.stringMatching(
        RegExp(
          `^(?:At "#[^"]+": )?The keyword "${keyword.replace('$', '\\$')}" .*: write .*Supported are type, `,
        ),
      ),
      params: { keyword },
    });
  }
});

test('[SC23] the list of this test is the list of the reader', () => {
  expect(REFUSED.map(([keyword]) => keyword)).toEqual([...REFUSED_KEYWORDS.keys()]);
});

test('[SC23] older spellings of a supported keyword are refused by its name', () => {
  for (const [keyword, value] of [
    ['exclusiveMinimum', true],
    ['exclusiveMaximum', false],
  ] as const) {
    expect(
      compileToolSchema({ type: 'object', properties: { a: { [keyword]: value } } }),
    ).toMatchObject({ ok: false, code: 'schema_invalid', params: { keyword } });
  }
});

test('[SC24] a list in "items" is read as "prefixItems", with "additionalItems" for the rest', () => {
  // As zod-to-json-schema writes z.tuple([z.string(), z.number()]) and one with a rest of booleans.
  const pair = { minItems: 2, maxItems: 2, items: [{ type: 'string' }, { type: 'number' }] };
  const open = { items: [{ type: 'string' }], additionalItems: { type: 'boolean' } };
  const compiled = compileToolSchema({
    type: 'object',
    properties: { pair: { type: 'array', ...pair }, open: { type: 'array', ...open } },
  });
  if (!compiled.ok) throw new Error(compiled.message);
  const isValid = (args: object) => compiled.check(args).ok;
  expect(
    [['a', 1], ['a'], ['a', 'b'], [1, 'a'], ['a', 1, 2]].map((one) => isValid({ pair: one })),
  ).toEqual([true, false, false, false, false]);
  expect([['a', true, false], ['a'], ['a', 5]].map((one) => isValid({ open: one }))).toEqual([
    true,
    true,
    false,
  ]);
  expect(codeOf({ type: 'object', properties: { a: { items: [] } } })).toBe('schema_invalid');
});

test('[SC24] beside such a list a bad item is refused as elsewhere', () => {
  const bad = { items: [{ type: 'string' }, { contains: {} }] };
  expect(codeOf({ type: 'object', properties: { a: bad } })).toBe('schema_keyword');
});

test('[SC23] a property may have the name of a refused keyword', () => {
  const properties = Object.fromEntries(REFUSED.map(([name]) => [name, { type: 'string' }]));
  expect(codeOf({ type: 'object', properties, required: ['contains'] })).toBe('ok');
  expect(
    codeOf({ type: 'object', properties: { a: { default: { contains: 1 }, 'x-note': {} } } }),
  ).toBe('ok');
});

test('[SC23] what zod writes is within the subset', () => {
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

test('[SC4] T46: references stay inside the schema', () => {
  expect(codeOf({ $ref: 'http://127.0.0.1:1/x' })).toBe('schema_ref_remote');
  expect(codeOf({ type: 'object', properties: { a: { $ref: 'other.json#/a' } } })).toBe(
    'schema_ref_remote',
  );
  expect(codeOf({ type: 'object', properties: { a: { $ref: '#/$defs/none' } } })).toBe(
    'schema_ref_unknown',
  );
  const check = compile({
    type: 'object',
    properties: { a: { $ref: '#/$defs/x~1y%20z' } },
    $defs: { 'x/y z': { type: 'boolean' } },
  });
  expect(check({ a: 1 }).ok).toBe(false);
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

test('[SC6] references that double at each level are refused', () => {
  expect(codeOf(chain(24, (next) => ({ anyOf: [next, next] })))).toBe('schema_too_large');
  expect(codeOf(chain(600, (next) => next))).toBe('schema_too_large');
  expect(codeOf(chain(10, (next) => ({ anyOf: [next, next] })))).toBe('ok');
});

test('[SC7] T45: patterns are linear or refused', () => {
  const check = property({ type: 'string', pattern: '^(a+)+$' });
  expect(check({ a: `${'a'.repeat(30)}!` }).ok).toBe(false);
  expect(check({ a: 'a'.repeat(5_000) }).ok).toBe(true);
  for (const pattern of [
    '(?=a)b',
    '(a)\\1',
    '(',
    '(a{900}){900}',
    'a{500}'.repeat(30),
    '\\p{L}'.repeat(300),
  ]) {
    expect(codeOf({ type: 'object', properties: { a: { pattern } } }), pattern).toBe(
      'schema_pattern',
    );
    expect(codeOf({ type: 'object', patternProperties: { [pattern]: {} } }), pattern).toBe(
      'schema_pattern',
    );
  }
  const wide = Object.fromEntries(
    Array.from({ length: 100 }, (_, i) => [`p${i}`, { pattern: 'a{999}' }]),
  );
  expect(codeOf({ type: 'object', properties: wide })).toBe('schema_pattern');
});

test('[SC7] patterns that are too large together are refused before they are compiled', () => {
  const compiled = vi.spyOn(RE2JS, 'compile');
  const large = Array.from({ length: 500 }, (_, i) => `(?:a{30}){30}${i}`);
  const byPattern = Object.fromEntries(large.map((pattern) => [pattern, true]));
  const byName = Object.fromEntries(large.map((pattern) => [pattern, { pattern }]));
  expect(codeOf({ type: 'object', patternProperties: byPattern })).toBe('schema_pattern');
  expect(codeOf({ type: 'object', properties: byName })).toBe('schema_pattern');
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
  expect(codeOf({ type: 'object', properties: properties(3) })).toBe('ok');
  expect(codeOf({ type: 'object', properties: properties(26) })).toBe('schema_pattern');
});

test('[SC7] usual patterns of 300 properties are accepted, also without regard to case', () => {
  for (const pattern of ['^[a-z]{1,5}$', '(?i)^[a-z0-9._+\\-]+@[a-z0-9]', '(?i)[а-яё]']) {
    const properties = Array.from({ length: 300 }, (_, i) => [`p${i}`, { pattern }]);
    const schema = { type: 'object', properties: Object.fromEntries(properties) };
    expect(codeOf(schema), pattern).toBe('ok');
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
