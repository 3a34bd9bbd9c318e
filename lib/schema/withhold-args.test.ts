import { describe, expect, test } from 'vitest';
import { compileToolSchema } from './compile-tool-schema.ts';

const secret = { type: 'string', 'x-sensitive': true };

function withhold(schema: Record<string, unknown>, args: Record<string, unknown>) {
  const compiled = compileToolSchema({ type: 'object', ...schema });
  if (!compiled.ok) throw new Error(compiled.message);
  return compiled.withhold?.(args, '[x]');
}

describe('[SC32] an argument that is marked with x-sensitive', () => {
  test('[SC32] is replaced, and the others stay', () => {
    const schema = { properties: { user: { type: 'string' }, password: secret } };
    expect(withhold(schema, { user: 'ann', password: 'open sesame' })).toEqual({
      args: { user: 'ann', password: '[x]' },
      texts: ['open sesame'],
    });
  });

  test.each([
    [
      'in an object',
      { properties: { a: { type: 'object', properties: { b: secret } } } },
      { a: { b: 's' } },
      { a: { b: '[x]' } },
    ],
    [
      'in each item',
      { properties: { a: { items: secret } } },
      { a: ['s', 't'] },
      { a: ['[x]', '[x]'] },
    ],
    [
      'in the first item',
      { properties: { a: { prefixItems: [secret] } } },
      { a: ['s', 't'] },
      { a: ['[x]', 't'] },
    ],
    [
      'of any other name',
      { additionalProperties: secret, properties: { a: {} } },
      { a: 'a', b: 's' },
      { a: 'a', b: '[x]' },
    ],
    ['by a pattern', { patternProperties: { '^k': secret } }, { k: 's' }, { k: '[x]' }],
    [
      'by reference',
      { $defs: { s: secret }, properties: { a: { $ref: '#/$defs/s' } } },
      { a: 's' },
      { a: '[x]' },
    ],
    [
      'in one of several forms',
      { properties: { a: { anyOf: [{ type: 'null' }, secret] } } },
      { a: 's' },
      { a: '[x]' },
    ],
    [
      'as a whole object',
      { properties: { a: { type: 'object', 'x-sensitive': true } } },
      { a: { b: ['s'] } },
      { a: '[x]' },
    ],
    [
      'in a schema that holds itself',
      {
        $defs: { n: { type: 'object', properties: { s: secret, n: { $ref: '#/$defs/n' } } } },
        properties: { n: { $ref: '#/$defs/n' } },
      },
      { n: { n: { s: 's' } } },
      { n: { n: { s: '[x]' } } },
    ],
    [
      'in an item that has to be there',
      { properties: { a: { contains: secret } } },
      { a: ['s'] },
      { a: ['[x]'] },
    ],
    [
      'under a condition that cannot be checked',
      { if: { properties: { a: { pattern: '(?<=a)b' } } }, then: { properties: { b: secret } } },
      { a: 'ab', b: 's' },
      { a: 'ab', b: '[x]' },
    ],
    [
      'by a pattern that cannot be read',
      { patternProperties: { '(?<=a)b': secret } },
      { ab: 's' },
      { ab: '[x]' },
    ],
    [
      'beside a pattern that cannot be read',
      { patternProperties: { '(?<=a)b': {} }, additionalProperties: secret },
      { c: 's' },
      { c: '[x]' },
    ],
    [
      'in what other forms leave over',
      { allOf: [{}], unevaluatedProperties: secret },
      { c: 's' },
      { c: '[x]' },
    ],
  ])('[SC32] is found %s', (_place, schema, args, kept) => {
    expect(withhold(schema, args)?.args).toEqual(kept);
  });

  test('[SC32] a schema that marks none withholds nothing', () => {
    expect(withhold({ properties: { a: { 'x-sensitive': false } } }, { a: 's' })).toBeUndefined();
  });

  test('[SC32] arguments without the marked one are given back by nothing; a number counts', () => {
    const schema = { properties: { pin: { type: 'integer', 'x-sensitive': true } } };
    expect(withhold(schema, { other: 's' })).toBeUndefined();
    expect(withhold(schema, { pin: 1234 })).toEqual({ args: { pin: '[x]' }, texts: [] });
  });

  test('[SC32] any other kind of mark counts as one', () => {
    const schema = { properties: { a: { type: 'string', 'x-sensitive': 'yes' } } };
    expect(withhold(schema, { a: 's' })?.args).toEqual({ a: '[x]' });
  });

  test('[SC32] of arguments that take too much work to look at, all are withheld', () => {
    const forms = Array.from({ length: 200 }, () => ({ type: 'string' }));
    const schema = { properties: { s: secret, a: { items: { anyOf: forms } } } };
    const many = { a: Array.from({ length: 2_000 }, () => 'text'), s: 'secret' };
    expect(withhold(schema, many)?.args).toEqual({ a: '[x]', s: '[x]' });
    // Forms without a part of that name are asked for it all the same.
    const wide = { properties: { s: secret }, allOf: Array.from({ length: 4_000 }, () => ({})) };
    const names = Array.from({ length: 1_000 }, (_, index) => [`k${index}`, 1]);
    expect(withhold(wide, Object.fromEntries(names))?.args).toMatchObject({ k0: '[x]' });
  });
});
