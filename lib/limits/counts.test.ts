import { expect, test } from 'vitest';
import { Counts } from './counts.ts';

test('work is counted for its principal until it has ended, well or not', async () => {
  const counts = new Counts();
  const gate = Promise.withResolvers<string>();
  const both = [counts.during('a', () => gate.promise), counts.during('a', () => gate.promise)];
  expect([counts.of('a'), counts.of('b')]).toEqual([2, 0]);
  gate.resolve('done');
  expect(await Promise.all(both)).toEqual(['done', 'done']);
  await expect(counts.during('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(counts.of('a')).toBe(0);
});

test('a principal with as many as it may have finds no place, and another does', () => {
  const counts = new Counts();
  const leave = counts.enter('eve', 1);
  expect(counts.enter('eve', 1)).toBeUndefined();
  expect(counts.enter('bob', 1)).toBeDefined();
  leave?.();
  expect(counts.enter('eve', 1)).toBeDefined();
});
