import { expect, test } from 'vitest';
import { boundArgumentsSchema } from '../protocol/always.ts';
import { ANY_ARGUMENTS, exactly, isWithin, newLooking, problemOfBound } from './bound-arguments.ts';

const argv = ['npm', 'run', 'build'];
const bound = (...list: Parameters<typeof boundArgumentsSchema.parse>) => ({
  arguments: boundArgumentsSchema.parse(...list),
  other_arguments: 'any' as const,
});

test('[CA80] a rule is for the values, the beginning of a list, or the number that it is bound to', () => {
  const values = bound([{ name: 'to', is: { iban: 'DE1', name: 'Olga' } }]);
  expect(isWithin(values, { to: { name: 'Olga', iban: 'DE1' }, note: 'x' })).toBe(true);
  for (const to of [{ iban: 'DE1' }, { iban: 'DE1', name: 'Olga', more: 1 }, 'DE1', null]) {
    expect(isWithin(values, { to })).toBe(false);
  }
  const start = bound([{ name: 'argv', starts_with: ['npm', 'run'] }]);
  const lists = [argv, ['npm', 'run'], ['npm'], ['npm', 'run '], 'npm run', { 0: 'npm', 1: 'run' }];
  expect(lists.map((one) => isWithin(start, { argv: one }))).toEqual([
    ...[true, true, false, false, false, false],
  ]);
  const limit = bound([{ name: 'amount', at_most: 100 }]);
  const numbers = [100, -5, 100.01, '5', Number.NaN, Number.POSITIVE_INFINITY, null, [5]];
  expect(numbers.map((amount) => isWithin(limit, { amount }))).toEqual([
    ...[true, true, false, false, false, false, false, false],
  ]);
});

test('[CA80] these values alone leave no room for another argument, and none for one that is missing', () => {
  const exact = exactly({ argv, dry: null });
  expect(isWithin(exact, { dry: null, argv: [...argv] })).toBe(true);
  for (const args of [{ argv }, { argv, dry: null, cwd: '/' }, { argv, dry: false }, {}]) {
    expect(isWithin(exact, args)).toBe(false);
  }
  expect(isWithin(ANY_ARGUMENTS, { argv })).toBe(true);
});

test('[CA80] a name is never looked up in what all objects have', () => {
  for (const name of ['__proto__', 'constructor', 'toString']) {
    expect(isWithin(bound([{ name, is: Object.prototype }]), {})).toBe(false);
    expect(problemOfBound({}, bound([{ name, is: null }]), {})).toMatch(/no argument/);
  }
  const own = JSON.parse('{"__proto__": 5}');
  expect(isWithin(bound([{ name: '__proto__', is: 5 }]), own)).toBe(true);
  const alone = { ...bound([{ name: 'a', is: 1 }]), other_arguments: 'none' as const };
  expect([isWithin(alone, { a: 1 }), isWithin(alone, { a: 1, ...own })]).toEqual([true, false]);
});

test('[CA80] what is too much to compare is not allowed', () => {
  const list = Array.from({ length: 40_000 }, (_, at) => at);
  const rule = bound([{ name: 'list', is: list }]);
  const looking = newLooking({ list });
  const found = [1, 2].map(() => isWithin(rule, { list: [...list] }, looking));
  expect(found).toEqual([true, false]);
});

test('[CA81] a rule that would not allow its own call, or that cannot be checked, is not written', () => {
  const args = { amount: 5, to: 'olga', argv };
  const problem = (list: unknown[], offer = {}, other_arguments: 'any' | 'none' = 'any') =>
    problemOfBound(offer, { ...bound(list), other_arguments }, args);
  expect(problem([{ name: 'amount', at_most: 5 }])).toBeUndefined();
  expect(problem([{ name: 'amount', at_most: 4 }])).toMatch(/would not be allowed/);
  expect(problem([{ name: 'to', at_most: 4 }])).toMatch(/would not be allowed/);
  expect(problem([{ name: 'to.iban', is: 4 }])).toMatch(/no argument "to.iban"/);
  expect(problem([{ name: '/argv/0', is: 'npm' }])).toMatch(/no argument/);
  const twice = { name: 'to', is: 'olga' };
  expect(problem([twice, twice])).toMatch(/twice/);
  expect(problem([{ name: 'to', is: 'x'.repeat(1 << 20) }])).toMatch(/bytes/);
  expect(problem([twice], { binding: 'never' })).toMatch(/not checked/);
  expect(problem([{ name: 'to', is: 'olga' }], {}, 'none')).toMatch(/would not be allowed/);
});

test('[CA81] where the very arguments are asked for, a rule has each of them and no others', () => {
  const args = { argv };
  const exact = { binding: 'exact' } as const;
  expect(problemOfBound(exact, exactly(args), args)).toBeUndefined();
  const start = bound([{ name: 'argv', starts_with: ['npm'] }]);
  for (const one of [ANY_ARGUMENTS, start, { ...start, other_arguments: 'none' as const }]) {
    expect(problemOfBound(exact, one, args)).toMatch(/very arguments/);
  }
  expect(problemOfBound(exact, { ...exactly(args), other_arguments: 'any' }, args)).toMatch(/very/);
});

test.each([
  ['nothing', { name: 'a' }],
  ['two tests', { name: 'a', is: 1, at_most: 2 }],
  ['an unknown test', { name: 'a', matches: '.*' }],
  ['no number', { name: 'a', at_most: Number.NaN }],
  ['no end', { name: 'a', at_most: Number.POSITIVE_INFINITY }],
  ['an empty list', { name: 'a', starts_with: [] }],
  ['no name', { name: '', is: 1 }],
])('[CA81] a binding with %s is refused', (_what, one) => {
  expect(boundArgumentsSchema.safeParse([one]).success).toBe(false);
});
