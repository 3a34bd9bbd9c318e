import { expect, test } from 'vitest';
import type { CardStatus } from '#lib/protocol/call-status';
import {
  countActive,
  createFeedSelector,
  type FeedChoice,
  feedView,
  listedFor,
  NO_OLDER,
} from './feed.ts';

const stateOf = (calls: readonly (readonly [string, CardStatus, string?])[]) => ({
  order: calls.map(([id]) => id),
  byId: Object.fromEntries(
    calls.map(([callId, status, runId = 'r1']) => [
      callId,
      { callId, runId, seq: 1, card: { params: {}, status } },
    ]),
  ),
});

const FOLLOW: FeedChoice = { filter: 'all', runId: undefined, held: null, older: NO_OLDER };

const four = stateOf([
  ['a', 'SUCCESS'],
  ['b', 'DOING', 'r2'],
  ['c', 'ERROR'],
  ['d', 'WAIT'],
]);

test('[CD12] the newest call comes first', () => {
  expect(feedView(four, FOLLOW)).toEqual({ ids: ['d', 'c', 'b', 'a'], fresh: 0, total: 4 });
  expect(countActive(four)).toBe(2);
});

test('[CD12] a held list stays as it was and counts what came since', () => {
  expect(feedView(four, { ...FOLLOW, held: ['a', 'b'] })).toEqual({
    ids: ['b', 'a'],
    fresh: 2,
    total: 4,
  });
});

test('[CD12] only what passes the filter is shown and counted', () => {
  expect(feedView(four, { ...FOLLOW, filter: 'active' }).ids).toEqual(['d', 'b']);
  expect(feedView(four, { ...FOLLOW, filter: 'failed' }).ids).toEqual(['c']);
  expect(feedView(four, { ...FOLLOW, filter: 'run', runId: 'r2' }).ids).toEqual(['b']);
  expect(feedView(four, { ...FOLLOW, filter: 'failed', held: ['a'] })).toEqual({
    ids: [],
    fresh: 1,
    total: 4,
  });
});

test('[CD12] a list that was held while empty shows what comes', () => {
  expect(feedView(four, { ...FOLLOW, held: [] }).ids).toEqual(['d', 'c', 'b', 'a']);
});

test('[CD12] of a held list those that a snapshot left out are not counted, and come once', () => {
  const older = stateOf([
    ['x', 'SUCCESS'],
    ['y', 'SUCCESS'],
  ]);
  expect(feedView(four, { ...FOLLOW, older, held: ['x', 'y', 'a', 'b', 'z'] })).toEqual({
    ids: ['b', 'a', 'y', 'x'],
    fresh: 2,
    total: 6,
  });
  // In another order, as of a snapshot.
  expect(feedView(four, { ...FOLLOW, held: ['a', 'c', 'b'] })).toEqual({
    ids: ['b', 'c', 'a'],
    fresh: 1,
    total: 4,
  });
  expect(feedView(four, { ...FOLLOW, held: ['y', 'z'] })).toEqual({
    ids: ['d', 'c', 'b', 'a'],
    fresh: 0,
    total: 4,
  });
});

test('[CD12] an update that leaves the list as it was gives the same list', () => {
  const all = createFeedSelector(FOLLOW);
  const failed = createFeedSelector({ ...FOLLOW, filter: 'failed' });
  const [before, failedBefore] = [all(four), failed(four)];
  const updated = { ...four, byId: { ...four.byId } };
  expect(all(updated)).toBe(before);
  expect(failed(updated)).toBe(failedBefore);
  const grown = stateOf([
    ['a', 'ERROR'],
    ['c', 'ERROR'],
  ]);
  expect(all(grown).ids).toEqual(['c', 'a']);
  expect(failed(grown).ids).toEqual(['c', 'a']);
});

test('[CD12] a filtered list follows its calls, though none came or went', () => {
  const active = createFeedSelector({ ...FOLLOW, filter: 'active' });
  expect(active(four).ids).toEqual(['d', 'b']);
  const entry = {
    callId: 'b',
    runId: 'r2',
    seq: 2,
    card: { params: {}, status: 'SUCCESS' },
  } as const;
  expect(active({ order: four.order, byId: { ...four.byId, b: entry } }).ids).toEqual(['d']);
});

test('[SO5] calls of before come after those of the feed, each once, and pass the filters too', () => {
  const older = stateOf([
    ['x', 'SUCCESS', 'r2'],
    ['y', 'ERROR'],
    ['a', 'WAIT'],
  ]);
  const view = feedView(four, { ...FOLLOW, older });
  expect(view).toEqual({ ids: ['d', 'c', 'b', 'a', 'y', 'x'], fresh: 0, total: 6 });
  expect(feedView(four, { ...FOLLOW, older, filter: 'run', runId: 'r2' }).ids).toEqual(['b', 'x']);
  expect(feedView(four, { ...FOLLOW, older, filter: 'active' }).ids).toEqual(['d', 'b']);
  expect(feedView(four, { ...FOLLOW, older, held: ['a'] }).ids).toEqual(['a', 'y', 'x']);
});

const family = (() => {
  const { order, byId } = stateOf([
    ['outer', 'SUCCESS'],
    ['inner', 'ERROR', 'r2'],
    ['inmost', 'ERROR', 'r3'],
    ['orphan', 'DOING', 'r4'],
  ]);
  const below = (callId: string, parent: string) => {
    const entry = byId[callId];
    if (!entry) throw new Error(callId);
    return { ...entry, card: { ...entry.card, parent_call_id: parent } };
  };
  const nested = {
    inner: below('inner', 'outer'),
    inmost: below('inmost', 'inner'),
    orphan: below('orphan', 'gone'),
  };
  return { order, byId: { ...byId, ...nested } };
})();

test('[CD33] a call of a sub-agent is in the list only where the one that it works for is not', () => {
  expect(feedView(family, FOLLOW).ids).toEqual(['orphan', 'outer']);
  expect(feedView(family, { ...FOLLOW, filter: 'failed' }).ids).toEqual(['inner']);
  expect(feedView(family, { ...FOLLOW, filter: 'run', runId: 'r1' }).ids).toEqual(['outer']);
});

test('[CD33] the way to a call of a sub-agent leads to the listed card that it lies in', () => {
  const { ids } = feedView(family, FOLLOW);
  const ways = ['outer', 'inmost', 'orphan', 'unknown'].map((id) =>
    listedFor(id, ids, family, NO_OLDER),
  );
  expect(ways).toEqual(['outer', 'outer', 'orphan', 'unknown']);
});

test('[CD35] a call that waits for a person stands first where newer ones would push it out of sight', () => {
  const newer = Array.from({ length: 30 }, (_, at) => [`n${at}`, 'SUCCESS', 'r2'] as const);
  const few = stateOf([['a', 'WAIT'], ...newer.slice(0, 5)]);
  const many = stateOf([['a', 'WAIT'], ['b', 'WAIT'], ...newer]);
  const pinned = ['a', 'b'];
  expect(feedView(few, { ...FOLLOW, pinned }).ids.at(-1)).toBe('a');
  const { ids } = feedView(many, { ...FOLLOW, pinned });
  expect(ids.slice(0, 3)).toEqual(['a', 'b', 'n29']);
  expect(ids).toHaveLength(32);
  const flood = stateOf(Array.from({ length: 50 }, (_, at) => [`w${at}`, 'WAIT'] as const));
  const first = feedView(flood, { ...FOLLOW, pinned: flood.order }).ids.slice(0, 21);
  expect(first).toEqual([...flood.order.slice(0, 20), 'w49']);
});

test('[CD35] the filter "Waits for a person" has what waits for one, and nothing else', () => {
  const waiting = { params: {}, status: 'WAIT', phase: 'approval' } as const;
  const entry = { callId: 'e', runId: 'r1', seq: 1, card: waiting };
  const state = { order: [...four.order, 'e'], byId: { ...four.byId, e: entry } };
  expect(feedView(state, { ...FOLLOW, filter: 'waiting' }).ids).toEqual(['e']);
});
