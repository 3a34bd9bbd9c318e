import { expect, test } from 'vitest';
import { normalizeSchema } from './normalize-schema.ts';

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
    oneOf: [{ properties: { d: {} } }],
    not: { required: ['z'] },
    enum: [{}],
  });
  expect(normalized).toEqual({
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'number' }, c: {}, d: {} },
    required: ['a', 'b'],
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
