import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { jsonText, rememberJsonText } from './json-text.ts';

test('[JS9] the text of a large value is kept with it, a longer one until its turn is over', async () => {
  // Other texts than the values have, to tell them from those that are made anew.
  const [large, longer] = ['x'.repeat(20_000), 'x'.repeat(300_000)];
  const values = [{ a: 1 }, { a: 2 }];
  for (const value of values) rememberJsonText(value, large);
  const other = { a: 3 };
  rememberJsonText(other, longer);
  rememberJsonText('text', large);
  expect(jsonText('text')).toBe(large);
  await nextTurn();
  expect(values.map(jsonText)).toEqual([large, large]);
  expect(jsonText(other)).toBe('{"a":3}');
  expect(jsonText('text')).toBe('"text"');
});
