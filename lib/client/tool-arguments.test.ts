import { expect, test } from 'vitest';
import type { ClientToolContext } from './client-tool.ts';
import {
  choice,
  defineClientTool,
  flag,
  integer,
  list,
  number,
  optional,
  string,
  toJsonSchema,
} from './tool-arguments.ts';

const about = { description: 'What it is.' };
const args = {
  side: choice(['user', 'environment'], { ...about, default: 'environment' }),
  full: flag({ ...about, default: false }),
  width: integer({ ...about, min: 16, max: 8_192, default: 1_920 }),
  age: number({ ...about, min: 0 }),
  title: string({ ...about, min: 1, max: 5 }),
  body: optional(string({ ...about, max: 9 })),
};
test('the schema says types, limits, defaults and what must be given', () => {
  const { description } = about;
  expect(toJsonSchema(args)).toEqual({
    type: 'object',
    properties: {
      side: { type: 'string', enum: ['user', 'environment'], default: 'environment', description },
      full: { type: 'boolean', default: false, description },
      width: { type: 'integer', minimum: 16, maximum: 8_192, default: 1_920, description },
      age: { type: 'number', minimum: 0, description },
      title: { type: 'string', minLength: 1, maxLength: 5, description },
      body: { type: 'string', maxLength: 9, description },
    },
    required: ['age', 'title'],
  });
  expect(toJsonSchema({})).toEqual({ type: 'object', properties: {} });
});

test('defaults are filled in, and what is not described is left out', async () => {
  const tool = defineClientTool({
    name: 't',
    description: 'T',
    args,
    run: (output) => ({ output }),
  });
  const context = {} as ClientToolContext;
  const { output } = await tool.run({ age: 1, title: 'a', full: true, other: 1 }, context);
  expect(output).toEqual({
    ...{ side: 'environment', full: true, width: 1_920, age: 1, title: 'a', body: undefined },
  });
  expect(output).not.toHaveProperty('other');
});

test('a list has its limits, and each of its items its own', () => {
  const pattern = list(integer({ min: 1, max: 9, ...about }), { min: 1, max: 3, ...about });
  expect(pattern.schema).toEqual({
    type: 'array',
    items: { type: 'integer', minimum: 1, maximum: 9 },
    minItems: 1,
    maxItems: 3,
    description: about.description,
  });
});
