import { expect, test } from 'vitest';
import { Spending } from './spending.ts';

const BUDGET = { seconds: 60, calls: null, tokens: null };

test('[DE16] waits that overlap count once, for the turn and for the one above', () => {
  const above = new Spending(BUDGET);
  const below = new Spending(BUDGET, above);
  above.begin(1_000, 0);
  below.begin(1_000, 0);
  below.callWaits('tc_1', true, 1_010);
  above.callWaits('tc_2', true, 1_020);
  below.callWaits('tc_1', false, 1_040);
  expect([below.spent(1_090), above.spent(1_500)]).toEqual([
    { unit: 'seconds', limit: 60 },
    undefined,
  ]);
  above.callWaits('tc_2', false, 1_100);
  // 10 s before the first wait and 50 s after the last one.
  expect(above.spent(1_149)).toBeUndefined();
  expect(above.spent(1_150)).toEqual({ unit: 'seconds', limit: 60 });
});

test('[DE16] a turn that ends takes its waits from the one above', () => {
  const above = new Spending(BUDGET);
  const below = new Spending(BUDGET, above);
  above.begin(1_000, 0);
  below.callWaits('tc_1', true, 1_010);
  below.end(1_020);
  expect(above.spent(1_069)).toBeUndefined();
  expect(above.spent(1_070)).toEqual({ unit: 'seconds', limit: 60 });
});

test('[DE16] a new message begins with no wait but the one that goes on', () => {
  const spending = new Spending(BUDGET);
  spending.callWaits('tc_1', true, 1_000);
  spending.begin(1_100, 0);
  spending.callWaits('tc_1', false, 1_110);
  expect(spending.spent(1_169)).toBeUndefined();
  expect(spending.spent(1_170)).toEqual({ unit: 'seconds', limit: 60 });
});
