import { expect, test } from 'vitest';
import { createNewId, hasFormOfNewId, timeOfNewId } from './new-id.ts';

test('ids of later moments sort after earlier ones, and none comes twice', () => {
  let now = 1_700_000_000_000;
  const newId = createNewId(() => now++);
  const ids = Array.from({ length: 1_000 }, () => newId('tc'));
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(1_000);
  expect(ids[0]).toMatch(/^tc_[0-9a-f]{32}$/);
});

test('ids of one millisecond sort in the order in which they were made, and none comes twice', () => {
  const newId = createNewId(() => 1_700_000_000_000);
  const ids = Array.from({ length: 2_000 }, () => newId('tc'));
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(2_000);
  expect(new Set(ids.map((id) => id.slice(-16))).size).toBe(2_000);
});

test('an id that was made here has a form that a chosen name does not have by accident', () => {
  const id = createNewId(Date.now)('client');
  expect(hasFormOfNewId('client', id)).toBe(true);
  for (const other of [
    'till-1',
    'client_abc123',
    id.replace('client', 'tc'),
    `${id}0`,
    'client_',
  ]) {
    expect(hasFormOfNewId('client', other), other).toBe(false);
  }
});

test('an id that was made here says when; a chosen name does not', () => {
  const id = createNewId(() => 1_700_000_000_123)('tc');
  expect(timeOfNewId('tc', id)).toBe(1_700_000_000_123);
  expect(timeOfNewId('run', id)).toBeUndefined();
  expect(timeOfNewId('tc', 'tc_1')).toBeUndefined();
});
