import { expect, test } from 'vitest';
import { withEllipsis } from './with-ellipsis.ts';

test.each([
  ['short', 5, 'short'],
  ['longer', 5, 'longe…'],
  ['abcd🙂', 5, 'abcd…'],
  ['abc🙂d', 5, 'abc🙂…'],
])('of %j at most %i characters are %j', (text, most, shown) => {
  expect(withEllipsis(text, most)).toBe(shown);
});
