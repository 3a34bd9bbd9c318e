import { expect, test } from 'vitest';
import { compileToolSchema } from '#lib/schema/compile-tool-schema';
import { normalizeSchema as normalize } from './normalize-schema.ts';
import type { SchemaTarget } from './schema-targets.ts';

const formFor = (target: SchemaTarget, schema: unknown) => {
  const form = normalize(schema, target);
  if (!form.ok) throw new Error(form.reason);
  return form;
};
const normalizeSchema = (schema: unknown) => formFor('openai', schema).schema;
/** The form of one property. */
const property = (target: SchemaTarget, schema: unknown, more: object = {}) =>
  formFor(target, { type: 'object', properties: { a: schema }, required: ['a'], ...more }).schema
    .properties?.a;

test('a plain schema stays as it is', () => {
  const schema = {
    type: 'object',
    properties: { city: { type: 'string', description: 'a city' } },
    required: ['city'],
    additionalProperties: false,
  };
  expect(normalizeSchema(schema)).toEqual(schema);
});

test('[AL30] a root without a type, or with several, is an object', () => {
  expect(normalizeSchema({})).toEqual({ type: 'object', properties: {} });
  expect(normalizeSchema({ type: ['object', 'null'] }).type).toBe('object');
});

test('[AL30] the properties of root branches are kept, and required only from allOf', () => {
  const normalized = normalizeSchema({
    required: ['a'],
    properties: { a: { type: 'string' } },
    allOf: [{ properties: { b: { type: 'number' } }, required: ['b'] }],
    anyOf: [{ properties: { c: {} }, required: ['c'] }, { required: ['a'] }],
    not: { required: ['z'] },
    enum: [{}],
  });
  expect(normalized).toEqual({
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'number' }, c: {} },
    required: ['a', 'b'],
    description: 'Also: {"not":{"required":["z"]}}',
  });
});

test('[AL30] what is required and has no properties is dropped', () => {
  expect(normalizeSchema({ required: ['ghost'] })).toEqual({ type: 'object', properties: {} });
});

test('[AL31] local references stay with their definitions, remote ones go', () => {
  const normalized = normalizeSchema({
    $defs: { point: { type: 'object', properties: { next: { $ref: '#/$defs/point' } } } },
    properties: { at: { $ref: '#/$defs/point' }, far: { $ref: 'https://example.org/x.json' } },
  });
  expect(normalized).toEqual({
    type: 'object',
    $defs: { point: { type: 'object', properties: { next: { $ref: '#/$defs/point' } } } },
    properties: { at: { $ref: '#/$defs/point' }, far: {} },
  });
});

test('[AL32] words for validators are dropped, a property of that name stays', () => {
  const normalized = normalizeSchema({
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: 'x',
    properties: { $id: { type: 'string', $comment: 'y' }, enum: { type: 'number' } },
  });
  expect(normalized).toEqual({
    type: 'object',
    properties: { $id: { type: 'string' }, enum: { type: 'number' } },
  });
});

test('[AL32] data is not taken for a schema', () => {
  const property = { enum: [{ $schema: 'kept' }], default: { $id: 'kept' } };
  expect(normalizeSchema({ properties: { a: property } }).properties).toEqual({ a: property });
});

const deep = () => {
  let schema: Record<string, unknown> = {};
  for (let depth = 0; depth < 5_000; depth += 1) schema = { properties: { a: schema } };
  return schema;
};

test.each([
  ['null', null],
  ['true', true],
  ['an array', []],
  ['properties that are none', { properties: [] }],
  ['a property that is true', { properties: { a: true, b: null, c: 'x' } }],
  ['required that is none', { required: 'a' }],
  ['allOf that is none', { allOf: { a: 1 } }],
  ['a schema 5,000 deep', deep()],
])('[AL33] %s does not throw and is an object schema that can be sent', (_, schema) => {
  expect(JSON.parse(JSON.stringify(normalizeSchema(schema)))).toMatchObject({ type: 'object' });
});

test('[AL34] an array without items says that it holds anything', () => {
  expect(normalizeSchema({ properties: { list: { type: 'array' } } }).properties).toEqual({
    list: { type: 'array', items: {} },
  });
});

test('[AL30] a root of several forms keeps what each has, and takes what any of them does', () => {
  const path = { type: 'string' };
  const schema = {
    type: 'object',
    anyOf: [
      { properties: { path, id: { type: 'integer' } }, required: ['path'] },
      { properties: { url: path, id: path }, required: ['url'] },
    ],
  };
  expect(formFor('conservative', schema).schema.properties).toEqual({
    path: { anyOf: [path, {}] },
    id: { anyOf: [{ type: 'integer' }, path] },
    url: { anyOf: [path, {}] },
  });
  const kind = (word: string) => ({
    properties: { kind: { const: word } },
    additionalProperties: false,
  });
  const closed = { type: 'object', oneOf: [kind('a'), kind('b')] };
  expect(formFor('gemini', closed).schema.properties).toEqual({
    kind: { anyOf: ['a', 'b'].map((word) => ({ type: 'string', enum: [word] })) },
  });
});

const NODE = {
  type: 'object',
  properties: { v: { type: 'integer' }, next: { $ref: '#/$defs/n' } },
};

test('[AL31] references of any place lead to one list of definitions, or are written out', () => {
  const schema = {
    type: 'object',
    properties: {
      a: {
        type: 'object',
        $defs: { t: { type: 'string' } },
        properties: { x: { $ref: '#/properties/a/$defs/t' } },
      },
      b: { $ref: '#/properties/a' },
      c: { $ref: '#/definitions/t', description: 'other' },
    },
    definitions: { t: { type: 'integer' }, unused: {} },
  };
  const wide = formFor('openai', schema).schema;
  expect(wide.properties).toMatchObject({
    a: { properties: { x: { $ref: '#/$defs/t' } } },
    b: { $ref: '#/$defs/a' },
    c: { $ref: '#/$defs/t_2', description: 'other' },
  });
  expect(Object.keys({ ...wide.$defs })).toEqual(['t', 'a', 't_2']);
  const inline = formFor('gemini', schema).schema;
  const a = { type: 'object', properties: { x: { type: 'string' } } };
  expect(inline.properties).toEqual({ a, b: a, c: { type: 'integer', description: 'other' } });
});

test('[AL39] a schema that refers to itself is kept, or written out twice and open below', () => {
  const schema = { type: 'object', properties: { n: { $ref: '#/$defs/n' } }, $defs: { n: NODE } };
  expect(formFor('anthropic', schema).schema).toEqual(schema);
  const form = formFor('conservative', schema);
  const v = { type: 'integer' };
  expect(form.schema.properties).toEqual({
    n: {
      type: 'object',
      properties: { v, next: { type: 'object', properties: { v, next: {} } } },
    },
  });
  expect(form.warnings).toEqual([
    'A schema that refers to itself is written out twice, and open below.',
  ]);
});

test('[AL39] of a thousand forms that have a thousand names no more is merged than takes a moment', () => {
  const names = Array.from({ length: 1_000 }, (_, at) => `q${at}`);
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
  const big = { type: 'object', properties, required: names };
  const schema = { $defs: { big }, anyOf: names.map(() => ({ $ref: '#/$defs/big' })) };
  expect(compileToolSchema(schema)).toMatchObject({ ok: true });
  const before = process.threadCpuUsage().user;
  const { warnings } = formFor('conservative', schema);
  expect((process.threadCpuUsage().user - before) / 1_000).toBeLessThan(250);
  expect(warnings).toContainEqual(expect.stringContaining('too large'));
});

test('[AL39] of references that double at each step a form has at most 1,000 parts', () => {
  const to = (at: number) => ({ $ref: `#/$defs/s${at}` });
  const steps = Array.from({ length: 16 }, (_, at) => [
    `s${at}`,
    { type: 'object', properties: { a: to(at + 1), b: to(at + 1) } },
  ]);
  const $defs = { ...Object.fromEntries(steps), s16: { type: 'string' } };
  const form = formFor('gemini', { type: 'object', properties: { s: to(0) }, $defs });
  expect(JSON.stringify(form.schema).match(/"type"/g)?.length).toBeLessThanOrEqual(1_001);
  expect(form.warnings).toEqual([expect.stringContaining('too large')]);
});

test.each<[string, object, Partial<Record<SchemaTarget, object>>]>([
  [
    'a value or null',
    { anyOf: [{ type: 'string' }, { type: 'null' }], default: null },
    {
      openai: { anyOf: [{ type: 'string' }, { type: 'null' }], default: null },
      gemini: {
        anyOf: [{ type: 'string' }, { type: 'null' }],
        description: 'Also: {"default":null}',
      },
    },
  ],
  [
    'a list of types',
    { type: ['string', 'null'], minLength: 2 },
    {
      anthropic: { type: ['string', 'null'], minLength: 2 },
      gemini: {
        anyOf: [{ type: 'string', description: 'Also: {"minLength":2}' }, { type: 'null' }],
      },
      conservative: { anyOf: [{ type: 'string', minLength: 2 }, { type: 'null' }] },
    },
  ],
  [
    'a constant',
    { const: 5 },
    {
      openai: { const: 5 },
      'openai-strict': { type: 'integer', enum: [5] },
      gemini: { type: 'integer', enum: [5] },
    },
  ],
  [
    'mixed values',
    { enum: ['x', 1, null] },
    {
      openai: { enum: ['x', 1, null] },
      conservative: {
        anyOf: [{ type: 'string', enum: ['x'] }, { type: 'integer', enum: [1] }, { type: 'null' }],
      },
    },
  ],
  [
    'an empty text among the values',
    { type: 'string', enum: ['', 'x'] },
    { gemini: { type: 'string', description: 'Also: {"enum":["","x"]}' } },
  ],
  [
    'a format and a pattern',
    { type: 'string', format: 'uri', pattern: '^h', description: 'Where.' },
    {
      openai: { type: 'string', format: 'uri', pattern: '^h', description: 'Where.' },
      'openai-strict': {
        type: 'string',
        pattern: '^h',
        description: 'Where. Also: {"format":"uri"}',
      },
      conservative: { type: 'string', description: 'Where. Also: {"format":"uri","pattern":"^h"}' },
    },
  ],
  [
    'a tuple',
    { type: 'array', items: [{ type: 'string' }, { type: 'integer' }], additionalItems: false },
    {
      openai: {
        type: 'array',
        prefixItems: [{ type: 'string' }, { type: 'integer' }],
        items: {},
        maxItems: 2,
      },
      gemini: {
        type: 'array',
        items: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
        maxItems: 2,
      },
    },
  ],
  [
    'parts together',
    { allOf: [{ type: 'string' }, { maxLength: 5 }], description: 'x' },
    { openai: { type: 'string', maxLength: 5, description: 'x' } },
  ],
  [
    'what is forbidden',
    { type: 'string', not: { const: 'x' } },
    { openai: { type: 'string', description: 'Also: {"not":{"const":"x"}}' } },
  ],
])('[AL35] %s in the form of each', (_, schema, forms) => {
  for (const [target, form] of Object.entries(forms) as [SchemaTarget, object][]) {
    expect(property(target, schema), target).toEqual(form);
  }
});

test('[AL36] the items of two parts are not mixed: what holds for the second ones of one is not for all', () => {
  const text = { type: 'string' };
  const parts = [
    { prefixItems: [{}, { type: 'integer' }], items: { type: 'boolean' } },
    { prefixItems: [text] },
  ];
  expect(property('openai', { type: 'array', allOf: parts })).toEqual({
    type: 'array',
    prefixItems: [text],
    items: {},
  });
});

test('[AL35] a condition stands in the description as a whole: two of them are not mixed', () => {
  const allOf = [
    { type: 'integer', if: { const: 1 }, then: { minimum: 1 } },
    { if: { const: 2 }, else: { maximum: 5 } },
  ];
  const form = property('openai', { allOf });
  expect(form).toEqual({
    type: 'integer',
    description: 'Also: {"if":{"const":2},"else":{"maximum":5}}',
  });
});

test('[AL37] what depends on other arguments has no strict form', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'string' } },
    additionalProperties: false,
  };
  const more = { properties: { b: { type: 'string' } } };
  expect(normalize(schema, 'openai-strict').ok).toBe(true);
  for (const one of [{ if: {}, then: more }, { dependentSchemas: { a: more } }]) {
    expect(normalize({ ...schema, ...one }, 'openai-strict').ok).toBe(false);
  }
});

const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });

test('[AL37] the strict form requires each name, and null stands for one that may be left out', () => {
  const schema = {
    type: 'object',
    properties: {
      a: { type: 'string' },
      b: { type: 'integer' },
      c: { enum: ['x', 'y'] },
      d: { $ref: '#/$defs/n' },
      e: { type: ['string', 'null'] },
    },
    required: ['a'],
    $defs: { n: NODE },
  };
  expect(formFor('openai-strict', schema).schema).toEqual({
    type: 'object',
    properties: {
      a: { type: 'string' },
      b: orNull({ type: 'integer' }),
      c: orNull({ type: 'string', enum: ['x', 'y'] }),
      d: { anyOf: [{ $ref: '#/$defs/n' }, { type: 'null' }] },
      e: { type: ['string', 'null'] },
    },
    required: ['a', 'b', 'c', 'd', 'e'],
    additionalProperties: false,
    $defs: {
      n: {
        type: 'object',
        properties: {
          v: orNull({ type: 'integer' }),
          next: { anyOf: [{ $ref: '#/$defs/n' }, { type: 'null' }] },
        },
        required: ['v', 'next'],
        additionalProperties: false,
      },
    },
  });
  // The tool's own schema takes the nulls away again.
  const compiled = compileToolSchema(schema);
  const args = { a: 'x', b: null, c: null, d: { v: null, next: { v: 1, next: null } }, e: null };
  expect(compiled.ok && compiled.check(args)).toMatchObject({
    ok: true,
    args: { a: 'x', d: { next: { v: 1 } }, e: null },
  });
});

test.each<[SchemaTarget, string, object, string]>([
  [
    'openai-strict',
    'a map',
    { type: 'object', additionalProperties: { type: 'string' } },
    'names it does not list',
  ],
  ['openai-strict', 'any value', { description: 'x' }, 'value of any type'],
  ['openai-strict', 'a list of anything', { type: 'array' }, 'value of any type'],
])('[AL38] %s has no form of %s, and says why', (target, _, schema, reason) => {
  const form = normalize({ type: 'object', properties: { a: schema } }, target);
  expect(form).toMatchObject({ ok: false, reason: expect.stringContaining(reason) });
});

test('[AL38] a name that an API takes for no argument is left out, unless it is required', () => {
  const schema = {
    type: 'object',
    properties: { 'filter[id]': {}, q: {} },
    additionalProperties: false,
  };
  expect(formFor('anthropic', schema)).toMatchObject({
    schema: { properties: { q: {} } },
    warnings: [expect.stringContaining('"filter[id]"')],
  });
  expect(formFor('anthropic', schema).schema).not.toHaveProperty('additionalProperties');
  expect(normalize({ ...schema, required: ['filter[id]'] }, 'anthropic')).toEqual({
    ok: false,
    reason: 'it requires the argument "filter[id]", and the model\'s API takes no such name',
  });
  expect(formFor('openai', { ...schema, required: ['filter[id]'] }).warnings).toEqual([]);
});
