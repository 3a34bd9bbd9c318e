import { expect, test } from 'vitest';
import {
  createCallSummary,
  createCallsStore,
  foldCalls,
  KEPT_CALLS,
  NO_CALLS,
  runsThatLost,
} from './calls-store.ts';
import { callEvent, snapshot } from './testing/fixtures.ts';

const waiting = { status: 'WAIT', tool_name: 'device.info' } as const;

test('[SF1] an update is merged into its call, and a new call comes last', () => {
  const state = foldCalls(NO_CALLS, [
    callEvent(1, 'tc_a', { ...waiting, params: { x: 1 } }),
    callEvent(2, 'tc_b', waiting),
    callEvent(3, 'tc_a', { status: 'DOING', params: { y: 2 } }),
  ]);
  expect(state.order).toEqual(['tc_a', 'tc_b']);
  expect(state.byId.tc_a).toEqual({
    callId: 'tc_a',
    runId: 'run_1',
    seq: 3,
    card: { status: 'DOING', tool_name: 'device.info', params: { x: 1, y: 2 } },
  });
});

test('[SF2] what an update does not change keeps its identity', () => {
  const before = foldCalls(NO_CALLS, [
    callEvent(1, 'tc_a', waiting),
    callEvent(2, 'tc_b', waiting),
  ]);
  const after = foldCalls(before, [
    callEvent(3, 'tc_a', waiting),
    callEvent(4, 'tc_b', { status: 'DOING' }),
  ]);
  expect(after.byId.tc_a).toBe(before.byId.tc_a);
  expect(after.byId.tc_b).not.toBe(before.byId.tc_b);
  expect(after.order).toBe(before.order);
});

test('[SF3] a batch tells subscribers once, and not at all when nothing changed', () => {
  const store = createCallsStore();
  let published = 0;
  store.subscribe(() => {
    published += 1;
  });
  store.getState().apply([callEvent(1, 'tc_a', waiting), callEvent(2, 'tc_b', waiting)]);
  expect(published).toBe(1);
  store.getState().apply([callEvent(3, 'tc_a', waiting)]);
  expect(published).toBe(1);
});

test('[SF4] the oldest final calls are dropped beyond the limit, open ones never', () => {
  const opened = callEvent(1, 'tc_open', waiting);
  const finals = Array.from({ length: KEPT_CALLS + 5 }, (_, at) =>
    callEvent(at + 2, `tc_${at}`, { ...waiting, status: 'SUCCESS' }),
  );
  const state = foldCalls(NO_CALLS, [opened, ...finals]);
  expect(state.order).toHaveLength(KEPT_CALLS);
  expect(Object.keys(state.byId)).toHaveLength(KEPT_CALLS);
  expect(state.order.slice(0, 2)).toEqual(['tc_open', 'tc_6']);
});

test('[SF5] a snapshot replaces the calls, and equal ones keep their identity', () => {
  const store = createCallsStore();
  store.getState().apply([callEvent(1, 'tc_gone', waiting), callEvent(2, 'tc_a', waiting)]);
  const before = store.getState().byId.tc_a;
  store.getState().replace(
    snapshot(9, {
      calls: [
        { tool_call_id: 'tc_a', run_id: 'run_1', card: waiting },
        { tool_call_id: 'tc_b', run_id: 'run_1', card: waiting },
      ],
    }),
  );
  expect(store.getState().order).toEqual(['tc_a', 'tc_b']);
  expect(Object.keys(store.getState().byId)).toEqual(['tc_a', 'tc_b']);
  expect(store.getState().byId.tc_a).toBe(before);
});

test('[SO7] runs whose calls a snapshot leaves out are named', () => {
  const store = createCallsStore();
  store
    .getState()
    .apply([
      callEvent(1, 'tc_gone', waiting, 'run_1'),
      callEvent(2, 'tc_a', waiting, 'run_1'),
      callEvent(3, 'tc_b', waiting, 'run_2'),
    ]);
  const before = store.getState();
  const calls = ['tc_a', 'tc_b', 'tc_c'].map((tool_call_id) => ({
    tool_call_id,
    run_id: tool_call_id === 'tc_a' ? 'run_1' : 'run_2',
    card: waiting,
  }));
  store.getState().replace(snapshot(9, { calls }));
  expect(runsThatLost(before, store.getState())).toEqual(new Set(['run_1']));
});

test('[SF1] a call with the name of an object property is a call like any other', () => {
  const state = foldCalls(NO_CALLS, [callEvent(1, 'constructor', waiting)]);
  expect(state.order).toEqual(['constructor']);
});

test('[SF15] a summary names what became final since the last one, each once', () => {
  const first = foldCalls(NO_CALLS, [callEvent(1, 'tc_a', waiting), callEvent(2, 'tc_b', waiting)]);
  const summary = createCallSummary(first);
  const second = foldCalls(first, [
    callEvent(3, 'tc_a', { status: 'SUCCESS' }),
    callEvent(4, 'tc_b', { status: 'ERROR' }),
  ]);
  expect(summary.since(second)).toEqual({ done: ['device.info'], failed: ['device.info'] });
  const third = foldCalls(second, [callEvent(5, 'tc_a', { late_result: true })]);
  expect(summary.since(third)).toEqual({ done: [], failed: [] });
});

test('[SF15] what the first snapshot brings is not news', () => {
  const store = createCallsStore();
  const summary = createCallSummary(store.getState());
  const done = { ...waiting, status: 'SUCCESS' } as const;
  store.getState().replace(
    snapshot(1, {
      calls: ['tc_a', 'tc_b'].map((id) => ({ tool_call_id: id, run_id: 'run_1', card: done })),
    }),
  );
  expect(summary.since(store.getState())).toEqual({ done: [], failed: [] });
});

const at = (id: string, created_at: number, status: 'WAIT' | 'SUCCESS' = 'SUCCESS') => ({
  ...{ tool_call_id: id, run_id: 'run_1' },
  card: { ...waiting, status, created_at },
});
/** Up to the first part of two. */
function setupParts() {
  const store = createCallsStore();
  const open = [at('tc_2', 2, 'WAIT'), at('tc_5', 5, 'WAIT')];
  store.getState().replace(snapshot(10, { calls: open, rest: { ended: 'a' } }));
  return store;
}

test('[SF22] ended calls that come later take their places by time, and what is known counts', () => {
  const store = setupParts();
  expect(store.getState()).toMatchObject({ order: ['tc_2', 'tc_5'], isPart: true });
  store
    .getState()
    .apply([
      callEvent(11, 'tc_5', { status: 'ERROR' }),
      callEvent(12, 'tc_7', { ...waiting, created_at: 7 }),
    ]);
  const { tc_5 } = store.getState().byId;
  const newer = [at('tc_6', 6), at('tc_5', 5), at('tc_4', 4)];
  store.getState().add({ type: 'ended', calls: newer, next: 'b' });
  expect(store.getState().order).toEqual(['tc_2', 'tc_4', 'tc_5', 'tc_6', 'tc_7']);
  expect(store.getState().byId.tc_5).toBe(tc_5);
  expect(store.getState().isPart).toBe(true);
  const older = [at('tc_3', 3), at('tc_1', 1), at('__proto__', 0)];
  store.getState().add({ type: 'ended', calls: older, next: null });
  const ids = ['tc_1', 'tc_2', 'tc_3', 'tc_4', 'tc_5', 'tc_6', 'tc_7'];
  expect(store.getState().order).toEqual(['__proto__', ...ids]);
  expect(store.getState().isPart).toBe(false);
});

test('[SF22] a snapshot that has all ends the wait for the parts', () => {
  const store = setupParts();
  store.getState().replace(snapshot(12, { calls: [at('tc_2', 2)] }));
  expect(store.getState()).toMatchObject({ order: ['tc_2'], isPart: false });
});

test('[SF15] ended calls that come later are not news, a call that ends meanwhile is', () => {
  const store = setupParts();
  const summary = createCallSummary(store.getState());
  store.getState().add({ type: 'ended', calls: [at('tc_4', 4), at('tc_3', 3)], next: null });
  store.getState().apply([callEvent(11, 'tc_5', { status: 'ERROR' })]);
  expect(summary.since(store.getState())).toEqual({ done: [], failed: ['device.info'] });
});

test('[SO6] a late answer to a call that was not introduced makes no card', () => {
  const late = callEvent(1, 'tc_old', { late_result: true });
  expect(foldCalls(NO_CALLS, [late])).toBe(NO_CALLS);
});

test('[SF19] a call that the server deleted is marked until a snapshot leaves it out', () => {
  const store = createCallsStore();
  const { apply, markDeleted, replace } = store.getState();
  apply([callEvent(1, 'tc_a', waiting), callEvent(2, 'tc_b', waiting)]);
  const { order, byId } = store.getState();
  markDeleted('tc_a');
  markDeleted('tc_never');
  markDeleted('constructor');
  expect(store.getState().byId).toEqual({ ...byId, tc_a: { ...byId.tc_a, isDeleted: true } });
  expect(store.getState().byId.tc_b).toBe(byId.tc_b);
  expect(store.getState().order).toBe(order);
  replace(snapshot(3));
  expect(store.getState().order).toEqual([]);
});
