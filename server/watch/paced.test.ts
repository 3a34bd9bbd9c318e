import { expect, test } from 'vitest';
import { createPace } from './paced.ts';

/** After each turn of the event loop, which of them have been let through. */
async function turns(sizes: readonly number[], most: number): Promise<number[][]> {
  const pace = createPace(most);
  const through: number[] = [];
  const all = Promise.all(sizes.map((bytes, at) => pace(bytes).then(() => through.push(at))));
  const seen: number[][] = [];
  while (through.length < sizes.length) {
    await new Promise((resolve) => setImmediate(resolve));
    seen.push([...through]);
  }
  await all;
  return seen;
}

test('[WA14] in one turn of the event loop no more is let through than may be, in order', async () => {
  const seen = await turns([4, 4, 4, 4, 2, 4], 8);
  let before = 0;
  for (const { length } of seen) {
    expect(length - before).toBeLessThanOrEqual(2);
    before = length;
  }
  expect(seen[0]).toEqual([0, 1]);
  expect(seen.at(-1)).toEqual([0, 1, 2, 3, 4, 5]);
});

test('[WA14] one that is larger than a turn may be has a turn of its own', async () => {
  const seen = await turns([100, 1, 100, 1], 8);
  expect(seen[0]).toEqual([0]);
  expect(seen.at(-1)).toEqual([0, 1, 2, 3]);
});
