import { expect, test } from 'vitest';
import { WorkCounts } from './work-counts.ts';

test('work is counted by its key until it has ended, well or not', async () => {
  const counts = new WorkCounts();
  const gate = Promise.withResolvers<string>();
  const both = [counts.during('a', () => gate.promise), counts.during('a', () => gate.promise)];
  expect([counts.of('a'), counts.of('b')]).toEqual([2, 0]);
  gate.resolve('done');
  expect(await Promise.all(both)).toEqual(['done', 'done']);
  await expect(counts.during('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(counts.of('a')).toBe(0);
});
