import { expect, test } from 'vitest';
import { createListingsStore, withApprovals } from './listings-store.ts';
import { approval, snapshot, tool } from './testing/fixtures.ts';

test('[SF10] tools and clients come whole and replace the list', () => {
  const store = createListingsStore();
  store.getState().replace(snapshot(1, { tools: [tool('a'), tool('b')] }));
  expect(store.getState().known).toBe(true);
  store.getState().apply([
    { type: 'tools', seq: 2, tools: [tool('c')] },
    { type: 'clients', seq: 3, clients: [] },
  ]);
  expect(store.getState().tools.map((one) => one.name)).toEqual(['c']);
});

test('[SF11] an approval is added, replaced, and removed when it is decided', () => {
  const store = createListingsStore();
  const later = { ...approval('tc_a'), expires_at: 200 };
  store.getState().apply([
    { type: 'approval', seq: 1, tool_call_id: 'tc_a', run_id: 'run_1', approval: approval('tc_a') },
    { type: 'approval', seq: 2, tool_call_id: 'tc_b', run_id: 'run_1', approval: approval('tc_b') },
    { type: 'approval', seq: 3, tool_call_id: 'tc_a', run_id: 'run_1', approval: later },
  ]);
  expect(store.getState().approvals).toEqual([approval('tc_b'), later]);
  store
    .getState()
    .apply([{ type: 'approval', seq: 4, tool_call_id: 'tc_b', run_id: 'run_1', approval: null }]);
  expect(store.getState().approvals).toEqual([later]);
});

test('[SF3] events of other kinds leave the lists as they are', () => {
  const store = createListingsStore();
  const before = store.getState();
  store.getState().apply([]);
  expect(store.getState()).toBe(before);
});

test('[SF21] what waits and had no room is counted until it ends or is fetched', () => {
  const store = createListingsStore();
  const state = () => store.getState();
  const listed = { approvals: [approval('tc_a')], left_out: { approvals: 3 } };
  state().replace({ ...snapshot(1), ...listed });
  expect(state().approvalsLeftOut).toBe(3);
  const ended = (seq: number, id: string) =>
    state().apply([{ type: 'approval', seq, tool_call_id: id, run_id: 'run_1', approval: null }]);
  ended(2, 'tc_d');
  expect(state().approvalsLeftOut).toBe(2);
  ended(3, 'tc_a');
  expect(state().approvalsLeftOut).toBe(2);
  const first = withApprovals(state(), [approval('tc_b')], false);
  expect([first.approvals.length, first.approvalsLeftOut]).toEqual([1, 1]);
  const last = withApprovals(first, [approval('tc_b'), approval('tc_c')], true);
  expect([last.approvals.length, last.approvalsLeftOut]).toEqual([2, 0]);
  state().replace(snapshot(9));
  expect(state().approvalsLeftOut).toBe(0);
});
