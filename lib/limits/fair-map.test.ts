import { expect, test } from 'vitest';
import { FairMap } from './fair-map.ts';

test('whoever fills it pushes out their own oldest, and nothing of the others', () => {
  const map = new FairMap<number>(4);
  map.put('ada', 'a1', 1);
  map.put('ada', 'a2', 2);
  const dropped = Array.from({ length: 50 }, (_, at) => map.put('eve', `e${at}`, at));
  expect(dropped.slice(0, 3)).toEqual([undefined, undefined, 'e0']);
  expect(['a1', 'a2', 'e47', 'e48', 'e49'].map((key) => map.get(key))).toEqual([
    ...[1, 2, undefined, 48, 49],
  ]);
  // Of owners with as many entries each, the oldest one goes.
  expect(map.put('bob', 'b1', 7)).toBe('a1');
});

test('a key that is put again is the newest, one that is replaced keeps its place', () => {
  const map = new FairMap<number>(2);
  map.put('ada', 'a1', 1);
  map.put('ada', 'a2', 2);
  map.put('ada', 'a1', 3);
  map.replace('a2', 4);
  map.replace('a9', 5);
  expect(map.values()).toEqual([4, 3]);
  expect(map.put('ada', 'a3', 6)).toBe('a2');
  expect([map.delete('a1'), map.delete('a1'), map.values()]).toEqual([true, false, [6]]);
});
