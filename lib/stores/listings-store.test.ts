import { expect, test } from 'vitest';
import { createListingsStore } from './listings-store.ts';
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
    { type: 'approval', seq: 1, tool_call_id: 'tc_a', approval: approval('tc_a') },
    { type: 'approval', seq: 2, tool_call_id: 'tc_b', approval: approval('tc_b') },
    { type: 'approval', seq: 3, tool_call_id: 'tc_a', approval: later },
  ]);
  expect(store.getState().approvals).toEqual([approval('tc_b'), later]);
  store.getState().apply([{ type: 'approval', seq: 4, tool_call_id: 'tc_b', approval: null }]);
  expect(store.getState().approvals).toEqual([later]);
});

test('[SF3] events of other kinds leave the lists as they are', () => {
  const store = createListingsStore();
  const before = store.getState();
  store.getState().apply([]);
  expect(store.getState()).toBe(before);
});
