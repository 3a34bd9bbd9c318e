import { expect, test } from 'vitest';
import type { ApiResult } from '../api/api-result.ts';
import type { WireCallRecord } from '../protocol/call-record.ts';
import { createOlderCallsStore, type OlderCallsDeps } from './older-calls-store.ts';

const record = (id: string, at: number, result: unknown = 1): WireCallRecord => ({
  tool_call_id: id,
  run_id: 'run_1',
  tool_name: 'a',
  source: 'server',
  status: 'SUCCEEDED',
  phase: null,
  args: {},
  result,
  error: null,
  attachments: [],
  created_at: at,
  completed_at: at,
  client_id: null,
  attempt: 1,
  timeout_ms: 1,
  timings: { queued_at: null, offered_at: null, started_at: null, completed_at: null },
  late_result: null,
  retry_of: null,
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
