import { expect, test } from 'vitest';
import { initialArguments, planForm } from './form-plan.ts';

const object = (properties: Record<string, unknown>, more: object = {}) => ({
  type: 'object',
  properties,
  ...more,
});
const uiOf = (property: unknown, name = 'a') => {
  const plan = planForm(object({ [name]: property }));
  if (plan.kind !== 'form') throw new Error(`expected a form, got ${plan.kind}`);
  return plan.ui[name];
};

test('[CD13] a schema without properties needs no form', () => {
  expect(planForm({ type: 'object', properties: {} })).toEqual({ kind: 'none' });
  expect(planForm({ type: 'object' })).toEqual({ kind: 'none' });
});

test.each([
  ['anyOf', object({ a: { type: 'string' } }, { anyOf: [{ required: ['a'] }] })],
  ['$ref', { type: 'object', $ref: '#/$defs/x' }],
  ['additionalProperties', { type: 'object', additionalProperties: { type: 'string' } }],
  ['toString', object({ toString: { type: 'string' } })],
  ['type', { ...object({ a: { type: 'string' } }), type: 'array' }],
  ['patternProperties', object({ a: {} }, { patternProperties: { '^x': {} } })],
])('[CD13] a schema with %s at its root is edited as JSON', (reason, schema) => {
  expect(planForm(schema)).toEqual({ kind: 'json', reason });
});

test.each([
  ['several readings', { anyOf: [{ type: 'string' }, { type: 'number' }] }],
  ['a reference', { $ref: '#/$defs/x' }],
  ['several types', { type: ['string', 'null'] }],
  ['no type', {}],
  ['true', true],
  ['a constant', { type: 'number', const: 3 }],
  ['mixed choices', { enum: ['a', 1] }],
  ['repeated choices', { type: 'string', enum: ['a', 'a'] }],
  ['a choice of objects', { enum: [{}, []] }],
  ['an object of any keys', { type: 'object', additionalProperties: true }],
  ['a list of lists', { type: 'array', items: { type: 'array', items: { type: 'string' } } }],
  ['a list of anything', { type: 'array' }],
  ['a default of another type', { type: 'string', default: { b: 1 } }],
  ['a default that holds another type', { type: 'array', items: { type: 'string' }, default: [1] }],
  ['a field named as what every object has', object({ constructor: { type: 'string' } })],
])('[CD13] a property with %s is edited as JSON within the form', (_what, property) => {
  expect(uiOf(property)).toEqual({ 'ui:field': 'json' });
});

test('[CD13] plain properties get plain fields', () => {
  expect(uiOf({ type: 'string' })).toEqual({ 'ui:widget': 'text' });
  expect(uiOf({ type: 'string', format: 'date-time' })).toEqual({ 'ui:widget': 'text' });
  expect(uiOf({ type: 'string' }, 'sql')).toEqual({ 'ui:widget': 'textarea' });
  expect(uiOf({ type: 'string', enum: ['a', 'b'] })).toEqual({});
  expect(uiOf({ type: 'integer' })).toEqual({});
  expect(uiOf({ type: 'boolean' })).toEqual({ 'ui:widget': 'select' });
  expect(uiOf({ type: 'array', items: { type: 'number' } })).toEqual({ items: {} });
  expect(uiOf(object({ b: { type: 'number' } }))).toEqual({ b: {} });
});

test('[RV3] of a schema the form reads what has the type that its keyword has', () => {
  const odd = {
    type: 'string',
    title: {},
    description: [],
    examples: [{}],
    format: 1,
    $comment: 1,
  };
  const good = { type: 'integer', title: 'B', description: 'b', minimum: 1, readOnly: true };
  const plan = planForm(object({ a: odd, b: good }, { title: {}, required: { length: 1 } }));
  expect(plan).toMatchObject({
    schema: { type: 'object', properties: { a: { type: 'string' }, b: good } },
  });
  expect(plan.kind === 'form' && Object.keys(plan.schema)).toEqual(['type', 'properties']);
  expect(JSON.stringify(plan)).not.toMatch(/examples|format|comment/);
});

test('[RV5] choices that differ in a hidden character have different names', () => {
  expect(uiOf({ type: 'string', enum: ['a', 'a\u200b'] })).toEqual({
    'ui:enumNames': ['a', 'a⟨U+200B⟩'],
  });
});

test('[CD13] keys beyond the schema grow no fields', () => {
  const plan = planForm(object({ a: { type: 'string' } }, { additionalProperties: true }));
  expect(plan).toMatchObject({ kind: 'form', schema: { type: 'object' } });
  expect(plan.kind === 'form' && 'additionalProperties' in plan.schema).toBe(false);
});

test('[CD13] a form starts with the defaults of the schema, and nothing else', () => {
  const schema = object(
    {
      a: { default: 0 },
      b: { type: 'string' },
      c: { const: 'x' },
      d: { const: 'y' },
    },
    { required: ['b', 'c'] },
  );
  expect(initialArguments(schema)).toEqual({ a: 0, c: 'x' });
});

test('[CD13] of what is edited as JSON the form has only the name and its texts', () => {
  const plan = planForm(object({ a: { $ref: '#/$defs/none', description: 'odd' } }));
  expect(plan).toMatchObject({ schema: { properties: { a: { description: 'odd' } } } });
  expect(JSON.stringify(plan)).not.toContain('$ref');
});
