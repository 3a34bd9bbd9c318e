import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CardUpdate } from '../protocol/card.ts';
import type { WatchEvent } from '../protocol/watch-messages.ts';
import { callsOfSnapshot, createCallsStore, foldCalls, NO_CALLS } from './calls-store.ts';
import { findGap } from './find-gap.ts';
import { foldListings, listingsOfSnapshot, NO_LISTINGS } from './listings-store.ts';
import {
  createRunsStore,
  foldRuns,
  NO_RUNS,
  runsOfSnapshot,
  withOlderMessages,
} from './runs-store.ts';
import {
  approval,
  callEvent,
  delta,
  message,
  messageEvent,
  run,
  snapshot,
} from './testing/fixtures.ts';

const id = fc.constantFrom('a', 'b', 'c');

const update: fc.Arbitrary<CardUpdate> = fc.record(
  {
    status: fc.constantFrom('WAIT', 'DOING', 'SUCCESS', 'ERROR'),
    phase: fc.constantFrom('queued', 'offered', 'granted', null),
    params: fc.dictionary(fc.constantFrom('x', 'y', '__proto__'), fc.jsonValue({ maxDepth: 1 })),
    tip: fc.constantFrom('one', 'two', null),
    progress: fc.record({ done: fc.nat(9) }),
    result: fc.jsonValue({ maxDepth: 1 }),
    late_result: fc.constant(true),
  },
  { requiredKeys: [] },
);

const body = fc.oneof(
  fc.tuple(id, update).map(([at, given]) => callEvent(0, `tc_${at}`, given)),
  id.map((at) => messageEvent(0, message(`m_${at}`, { parts: [{ type: 'text', text: at }] }))),
  fc
    .tuple(id, fc.nat(2), fc.string({ maxLength: 3 }))
    .map(([at, index, given]) => delta(0, `m_${at}`, index, given)),
  fc.nat(9).map((step): WatchEvent => ({ type: 'run', seq: 0, run: run('run_1', { step }) })),
  fc.tuple(id, fc.boolean()).map(
    ([at, open]): WatchEvent => ({
      type: 'approval',
      seq: 0,
      tool_call_id: at,
      run_id: 'run_1',
      approval: open ? approval(at) : null,
    }),
  ),
);

/** A log as a server has it: its first event makes the run that the messages belong to. */
const log = fc.array(body, { maxLength: 40 }).map((bodies): WatchEvent[] => {
  const events: WatchEvent[] = [{ type: 'run', seq: 0, run: run() }, ...bodies];
  return events.map((event, at) => ({ ...event, seq: at + 1 }));
});

const foldAll = (events: readonly WatchEvent[]) => ({
  calls: foldCalls(NO_CALLS, events),
  runs: foldRuns(NO_RUNS, events),
  lists: foldListings(NO_LISTINGS, events),
});

/** What a server that folded the same events would send. */
function takeSnapshot(events: readonly WatchEvent[]) {
  const { calls, runs, lists } = foldAll(events);
  return snapshot(events.length, {
    calls: calls.order.flatMap((callId) => {
      const entry = calls.byId[callId];
      return entry ? [{ tool_call_id: callId, run_id: entry.runId, card: entry.card }] : [];
    }),
    runs: Object.values(runs.runs).map((one) => ({
      ...one,
      messages: [...(runs.messages[one.run_id] ?? [])],
    })),
    approvals: [...lists.approvals],
  });
}

const cards = (state: ReturnType<typeof foldCalls>) =>
  state.order.map((callId) => [callId, state.byId[callId]?.card]);

test('[SF14] a snapshot at any place and the events after it give the same as all events', () => {
  fc.assert(
    fc.property(log, fc.nat(41), fc.nat(41), (events, where, size) => {
      const cut = 1 + (where % events.length);
      const wire = JSON.stringify([takeSnapshot(events.slice(0, cut)), events.slice(cut)]);
      const [taken, rest] = JSON.parse(wire);
      const all = foldAll(events);
      // The rest comes in two frames, wherever they are cut.
      const frames = [rest.slice(0, size), rest.slice(size)];
      const calls = frames.reduce(foldCalls, callsOfSnapshot(NO_CALLS, taken));
      const runs = frames.reduce(foldRuns, runsOfSnapshot(NO_RUNS, taken));
      const lists = frames.reduce(foldListings, listingsOfSnapshot(taken));
      const whole = JSON.parse(JSON.stringify(events));
      expect(cards(calls)).toEqual(cards(foldCalls(NO_CALLS, whole)));
      expect(runs).toEqual(all.runs);
      expect(lists.approvals).toEqual(all.lists.approvals);
    }),
  );
});

test('[SF16] updates of calls that a snapshot had no room for change nothing, and show no gap', () => {
  const store = createCallsStore();
  store.getState().replace({ ...snapshot(8), left_out: { calls: 3 } });
  const update = callEvent(9, 'tc_left_out', { status: 'SUCCESS' });
  expect(findGap(store.getState(), NO_RUNS, [update])).toBe(false);
  store.getState().apply([update]);
  expect(store.getState().order).toEqual([]);
  store.getState().apply([callEvent(10, 'tc_new', { tool_name: 'camera' })]);
  expect(store.getState().order).toEqual(['tc_new']);
  store.getState().replace(snapshot(12));
  expect(findGap(store.getState(), NO_RUNS, [update])).toBe(true);
});

test('[SF20] older messages come by page before the newest, and stay there', () => {
  const store = createRunsStore();
  const [one, two, three, four] = ['m_1', 'm_2', 'm_3', 'm_4'].map((id) => message(id));
  if (!one || !two || !three || !four) throw new Error('unreachable');
  const record = { ...run(), messages: [three], messages_left_out: 2 };
  store.getState().load(record);
  expect(store.getState().older.run_1).toBe(2);
  const page = { run_id: 'run_1', messages: [two, three], messages_left_out: 1 };
  store.setState((state) => withOlderMessages(state, page));
  store.getState().load({ ...record, messages: [three, four] });
  expect(store.getState().messages.run_1).toEqual([two, three, four]);
  expect(store.getState().older.run_1).toBe(1);
  store.setState((state) => withOlderMessages(state, { run_id: 'run_1', messages: [one] }));
  expect(store.getState().messages.run_1).toEqual([one, two, three, four]);
  expect(store.getState().older.run_1).toBe(0);
});

test('[SF17] a run that came without its messages has none until it is fetched', () => {
  const store = createRunsStore();
  store
    .getState()
    .replace({ ...snapshot(8), runs: [{ ...run(), messages: [], messages_left_out: 2 }] });
  const written = message('m_2');
  store.getState().apply([messageEvent(9, written), { type: 'run', seq: 10, run: run() }]);
  const gap = findGap(NO_CALLS, store.getState(), [delta(11, 'm_1', 0, 'more')]);
  expect([store.getState().messages, gap]).toEqual([{}, false]);
  store.getState().load({ ...run(), messages: [message('m_1'), written] });
  store.getState().apply([delta(12, 'm_2', 0, 'and on')]);
  expect(store.getState().messages.run_1).toMatchObject([
    { message_id: 'm_1' },
    { message_id: 'm_2', parts: [{ text: 'and on' }] },
  ]);
});
