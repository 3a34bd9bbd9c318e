import { expect, test } from 'vitest';
import { compilePath } from './path-pattern.ts';

test('[HT7] a pattern fits whole paths alone, letter for letter', () => {
  const match = compilePath('/v1/a.b/:id/act');
  expect(match('/v1/a.b/tc_1%40x/act')).toEqual({ id: 'tc_1@x' });
  for (const path of ['/v1/axb/tc_1/act', '/v1/a.b//act', '/v1/a.b/1/2/act', '/v1/a.b/1/act/']) {
    expect(match(path), path).toBeUndefined();
  }
});
