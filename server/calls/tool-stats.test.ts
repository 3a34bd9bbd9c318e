import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Call, CallFields } from '#lib/call/call';
import { finalCall, sampleCall } from '#lib/call/testing/sample-call';
import { toolStatsSchema } from '#lib/protocol/tool-stats';
import { sharedTempDir } from '#lib/testing/temp-dir';
import { createStoreOnThisThread } from '../store/testing/store-on-this-thread.ts';
import { appendCall } from '../store/testing/store-setup.ts';
import { readToolStats } from './tool-stats.ts';

const dir = sharedTempDir();
const store = createStoreOnThisThread({ file: join(dir, 'store.db') });
afterAll(() => store.close());

const ended = (id: string, ms: number | null, more: CallFields = {}): Call =>
  finalCall({
    ...{ id, toolName: 'slow.tool', startedAt: ms === null ? undefined : 1_000 },
    ...{ createdAt: 500, completedAt: 1_000 + (ms ?? 0), status: 'SUCCEEDED' },
    ...more,
  });

const failed = (
  code: 'timeout' | 'no_provider' | 'denied' | 'approval_expired' | 'cancelled',
  message: string,
): CallFields => ({
  ...{ status: code === 'timeout' ? 'TIMEOUT' : 'FAILED', result: undefined },
  error: { code, message, executed: 'unknown' },
});

test('[CA50] the statistics of a tool count its ended calls, failures by code, and times', async () => {
  const times = Array.from({ length: 100 }, (_, n) => ended(`tc_${n}`, n + 1));
  const others = [
    ended('tc_late', 2_000, failed('timeout', 'x'.repeat(400))),
    ended('tc_lost', null, failed('no_provider', 'No client has it')),
    ended('tc_own', 7, { toolName: 'own.tool', ownerToken: 'tok_1' }),
  ];
  const open = sampleCall({ id: 'tc_open', toolName: 'slow.tool' });
  await store.write([...times, ...others, open].map((call) => appendCall({ ...call, version: 1 })));
  const stats = await readToolStats(store, undefined);
  expect(toolStatsSchema.parse(stats)).toEqual(stats);
  expect(stats).toMatchObject({
    ...{ calls: 103, from: 1, to: 3 },
    tools: [
      {
        ...{ tool_name: 'slow.tool', count: 102, succeeded: 100, decided: 0 },
        ...{ failures: { timeout: 1, no_provider: 1 }, p50_ms: 51, p95_ms: 96, p99_ms: 100 },
        clients: [],
      },
      { tool_name: 'own.tool', count: 1, succeeded: 1, failures: {}, p50_ms: 7, last_errors: [] },
    ],
  });
  expect(stats.tools[0]?.last_errors).toEqual([
    { tool_call_id: 'tc_late', at: 3, code: 'timeout', message: 'x'.repeat(300) },
    { tool_call_id: 'tc_lost', at: 1, code: 'no_provider', message: 'No client has it' },
  ]);
});

test('[CA50] the holder of a token gets the statistics of its own calls alone', async () => {
  expect(await readToolStats(store, 'tok_1')).toMatchObject({
    calls: 1,
    tools: [{ tool_name: 'own.tool', count: 1 }],
  });
  expect(await readToolStats(store, 'tok_2')).toEqual({
    ...{ calls: 0, from: null, to: null, tools: [] },
  });
});

test('[CA50] what people decided is counted apart, and is no error of the tool', async () => {
  const codes = ['denied', 'approval_expired', 'cancelled', 'timeout'] as const;
  const calls = codes.map((code) =>
    ended(`tc_${code}`, null, {
      ...failed(code, code),
      ...{ toolName: 'asked.tool', ownerToken: 'tok_asked' },
    }),
  );
  await store.write(calls.map((call) => appendCall({ ...call, version: 1 })));
  const { tools } = await readToolStats(store, 'tok_asked');
  expect(tools).toMatchObject([
    {
      count: 4,
      succeeded: 0,
      decided: 3,
      expired: 1,
      failures: { denied: 1, cancelled: 1, timeout: 1 },
    },
  ]);
  expect(tools[0]?.last_errors).toMatchObject([{ code: 'timeout' }]);
});

test('[CA50] failures are counted by the tool’s own code, of which the rarest are counted by ours', async () => {
  const codes = ['permission_denied', 'permission_denied', 'denied'];
  for (let n = 0; n < 30; n += 1) codes.push(`own_${n}`);
  const calls = codes.map((client_code, n) =>
    ended(`tc_own_${n}`, 1, {
      ...{ toolName: 'own.codes', ownerToken: 'tok_codes', status: 'FAILED', result: undefined },
      error: { code: 'tool_error', message: 'no', executed: 'yes', client_code },
    }),
  );
  await store.write(calls.map((call) => appendCall({ ...call, version: 1 })));
  const { tools } = await readToolStats(store, 'tok_codes');
  const failures: Record<string, number> = tools[0]?.failures ?? {};
  expect(failures).toMatchObject({ permission_denied: 2 });
  expect(tools[0]?.decided).toBe(0);
  expect(failures.denied).toBeUndefined();
  expect(Object.keys(failures).length).toBeLessThanOrEqual(21);
  expect(Object.values(failures).reduce((sum, count) => sum + count, 0)).toBe(33);
});
