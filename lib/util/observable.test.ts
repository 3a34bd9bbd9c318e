import { expect, test } from 'vitest';
import { createObservable } from './observable.ts';

test('gives its value and reports changes only', () => {
  const values: number[] = [];
  const value = createObservable(1);
  const stop = value.subscribe((next) => values.push(next));
  value.set(1);
  value.set(2);
  stop();
  value.set(3);
  expect({ now: value.get(), values }).toEqual({ now: 3, values: [2] });
});
