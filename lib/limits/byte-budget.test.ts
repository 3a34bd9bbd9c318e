import { expect, test } from 'vitest';
import { ByteBudget } from './byte-budget.ts';
import { hasFairShare } from './counts.ts';

test('bytes count in all and for each principal, until they are released', () => {
  const budget = new ByteBudget(10);
  const held = budget.hold(4, 'ada');
  budget.hold(3, 'bob');
  held.resize(8);
  expect([budget.total, budget.of('ada'), budget.of('bob'), budget.isOver]).toEqual([
    ...[11, 8, 3, true],
  ]);
  held.release();
  held.release();
  expect([budget.total, budget.of('ada'), budget.hasRoomFor(7), budget.hasRoomFor(8)]).toEqual([
    ...[3, 0, true, false],
  ]);
  expect(new ByteBudget(1).hasRoomFor(2), 'alone').toBe(true);
});

test('one takes half of the places alone, two take a third each, and a newcomer finds one', () => {
  const held: Record<string, number> = {};
  const all = () => Object.values(held).reduce((sum, one) => sum + one, 0);
  const fill = (who: string) => {
    held[who] = 0;
    while (hasFairShare(held[who], all(), 12)) held[who] += 1;
    return held[who];
  };
  expect([fill('eve'), fill('mallory'), fill('bob')]).toEqual([6, 3, 2]);
});
