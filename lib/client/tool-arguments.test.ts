import { expect, test } from 'vitest';
import {
  choice,
  flag,
  integer,
  list,
  number,
  optional,
  readArguments,
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
const read = (given: Record<string, unknown>) =>
  readArguments(args, { age: 1, title: 'a', ...given });

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

test('defaults are filled in, and what is not described is left out', () => {
  expect(read({ other: 1 })).toEqual({
    ok: true,
    values: {
      side: 'environment',
      full: false,
      width: 1_920,
      age: 1,
      title: 'a',
      body: undefined,
    },
  });
});

test.each([
  [{ side: 'back' }, 'side must be one of user, environment'],
  [{ full: 'yes' }, 'full must be true or false'],
  [{ width: 15 }, 'width must be an integer 16 to 8192'],
  [{ width: 20.5 }, 'width must be an integer 16 to 8192'],
  [{ width: null }, 'width must be an integer 16 to 8192'],
  [{ age: Number.NaN }, 'age must be a number at least 0'],
  [{ age: undefined }, 'age must be a number at least 0'],
  [{ title: '' }, 'title must be a text of 1 to 5 characters'],
  [{ body: 'x'.repeat(10) }, 'body must be a text of at most 9 characters'],
  [
    { age: -1, title: 7 },
    'age must be a number at least 0; title must be a text of 1 to 5 characters',
  ],
])('%j is refused with the place and the reason', (given, problem) => {
  expect(read(given)).toEqual({ ok: false, problem });
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
  expect(pattern.fits([1, 9])).toBe(true);
  for (const value of [[], [1, 2, 3, 4], 'abc', { length: 1 }, null, [1, 10]])
    expect(pattern.fits(value), JSON.stringify(value)).toBe(false);
  expect(pattern.wants).toBe('a list of 1 to 3, each an integer 1 to 9');
});
