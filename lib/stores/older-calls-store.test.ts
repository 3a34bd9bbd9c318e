import { expect, test } from 'vitest';
import type { ApiResult } from '../api/api-result.ts';
import { createOlderCallsStore, type OlderCallsDeps } from './older-calls-store.ts';
import { callRecord } from './testing/fixtures.ts';

const record = (id: string, at: number, result: unknown = 1) =>
  callRecord({
    ...{ tool_call_id: id, result, created_at: at, completed_at: at },
    card: { status: 'SUCCESS', tool_name: 'a', result, created_at: at },
  });

const failure = {
  ok: false,
  code: 'unreachable',
  message: '',
  details: [],
  status: 0,
  retryAfter: null,
} as const;

/** Pages of two calls, of a run of `count`; what was asked is kept. */
function setup(count: number) {
  const asked: string[] = [];
  let isDown = false;
  const calls = Array.from({ length: count }, (_, at) => record(`tc_${at}`, at)).toReversed();
  const answer = <T>(value: T): ApiResult<T> => (isDown ? failure : { ok: true, value });
  const deps: OlderCallsDeps = {
    async listCalls({ cursor = '0' }) {
      asked.push(`page ${cursor}`);
      const from = Number(cursor);
      const next_cursor = from + 2 < count ? `${from + 2}` : null;
      return answer({ tool_calls: calls.slice(from, from + 2), next_cursor });
    },
    async getCall(id) {
      asked.push(id);
      const call = calls.find((one) => one.tool_call_id === id) ?? record(id, -1);
      return answer(call);
    },
  };
  const store = createOlderCallsStore(deps);
  return {
    asked,
    state: store.getState,
    setDown: (down: boolean) => {
      isDown = down;
    },
  };
}

test('[SO1] pages are added, each call once, oldest first, until there is no more', async () => {
  const { asked, state } = setup(3);
  await state().loadPage('run_1');
  expect(state().order).toEqual(['tc_1', 'tc_2']);
  await state().loadPage('run_1');
  await state().loadPage('run_1');
  expect(state().order).toEqual(['tc_0', 'tc_1', 'tc_2']);
  expect(state().pages.run_1).toEqual({ state: 'ready', cursor: null });
  expect(asked).toEqual(['page 0', 'page 2']);
});

test('[SO2] one page of a run is fetched at a time; one that failed is asked for again', async () => {
  const { asked, state, setDown } = setup(3);
  setDown(true);
  await Promise.all([state().loadPage('run_1'), state().loadPage('run_1')]);
  expect(asked).toEqual(['page 0']);
  expect(state().pages.run_1).toEqual({ state: 'failed', failure, cursor: undefined });
  setDown(false);
  await state().loadPage('run_1');
  expect(state().pages.run_1).toEqual({ state: 'ready', cursor: '2' });
});

test('[SO3] a call that is reached comes with the next page of its run, else by its id', async () => {
  const { asked, state } = setup(7);
  await Promise.all(['tc_6', 'tc_5', 'tc_0'].map((id) => state().reach('run_1', id)));
  expect(asked).toEqual(['page 0', 'tc_0']);
  expect(state().order).toEqual(['tc_0', 'tc_5', 'tc_6']);
  expect(state().single).toEqual({});
});

test('[SO3] a call that could not be had says why, and is asked for again when it is wanted again', async () => {
  const { state, setDown } = setup(1);
  setDown(true);
  await state().reach('run_1', 'tc_0');
  expect(state().single.tc_0).toEqual({ state: 'failed', failure });
  setDown(false);
  await state().reach('run_1', 'tc_0');
  expect(state().byId.tc_0?.card).toMatchObject({ tool_name: 'a', result: 1 });
});

test('[SO4] of a large value of a single record a card has the beginning', async () => {
  const store = createOlderCallsStore({
    listCalls: async () => failure,
    getCall: async (id) => ({ ok: true, value: record(id, 1, 'x'.repeat(100_000)) }),
  });
  await store.getState().loadCall('tc_1');
  expect(store.getState().byId.tc_1?.card).toMatchObject({
    truncated: true,
    result_bytes: 100_000,
  });
});

test('[SO7] after a snapshot that left out calls of a run its pages are asked for anew', async () => {
  const { asked, state } = setup(3);
  await state().loadPage('run_1');
  await state().loadPage('run_1');
  state().renew(new Set(['run_2']));
  expect(state().pages.run_1).toEqual({ state: 'ready', cursor: null });
  state().renew(new Set(['run_1']));
  expect(state().pages).toEqual({});
  expect(state().order).toEqual(['tc_0', 'tc_1', 'tc_2']);
  await state().loadPage('run_1');
  expect(asked).toEqual(['page 0', 'page 2', 'page 0']);
});

test('[SO7] a call that was open when it was fetched is fetched again after a snapshot', async () => {
  const open = record('tc_1', 1);
  const store = createOlderCallsStore({
    listCalls: async () => failure,
    getCall: async (id) => ({
      ok: true,
      value: id === 'tc_1' ? { ...open, card: { ...open.card, status: 'DOING' } } : record(id, 2),
    }),
  });
  await store.getState().loadCall('tc_1');
  await store.getState().loadCall('tc_2');
  store.getState().renew(new Set());
  expect(store.getState().order).toEqual(['tc_2']);
  expect(Object.keys(store.getState().byId)).toEqual(['tc_2']);
});

test('[SO7] a page that was on its way when a snapshot came counts for nothing, and is asked for again', async () => {
  const pages = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let asked = 0;
  const store = createOlderCallsStore({
    getCall: async () => failure,
    async listCalls() {
      const page = pages[asked];
      asked += 1;
      await page?.promise;
      return { ok: true, value: { tool_calls: [record(`tc_${asked}`, 1)], next_cursor: null } };
    },
  });
  const { loadPage, renew } = store.getState();
  const first = loadPage('run_1');
  renew(new Set());
  expect(store.getState().pages).toEqual({});
  const second = loadPage('run_1');
  pages[0]?.resolve();
  await first;
  expect(store.getState()).toMatchObject({ order: [], pages: { run_1: { state: 'loading' } } });
  expect(loadPage('run_1')).toBe(second);
  pages[1]?.resolve();
  await second;
  expect(store.getState()).toMatchObject({ order: ['tc_2'], pages: { run_1: { cursor: null } } });
});
