import { expect, test } from 'vitest';
import type { Card } from '#lib/protocol/card';
import type { RunRecord } from '#lib/protocol/run';
import type { ToolListing } from '#lib/protocol/tool-spec';
import { type ClientListing, type Snapshot, snapshotSchema } from '#lib/protocol/watch-messages';
import { client as anyClient, tool as anyTool, message, run } from '#lib/stores/testing/fixtures';
import type { ShownCall } from '../calls/call-service.ts';
import { createSnapshots } from './snapshot.ts';

const MIB = 1024 * 1024;
const sizeOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value) ?? '');

const call = (n: number, card: Partial<Card> = {}): ShownCall => ({
  id: `tc_${n}`,
  runId: 'run_1',
  createdAt: n,
  card: { status: 'SUCCESS', tool_name: 'camera', params: {}, ...card },
});
const calls = (count: number, card: Partial<Card> = {}) =>
  Array.from({ length: count }, (_, n) => call(n, card));

const tool = (n: number, schema: Record<string, unknown> = {}): ToolListing =>
  anyTool(`tool_${n}`, { source: 'client', schema, timeout_ms: 1_000 });

const client = (n: number): ClientListing =>
  anyClient(`client_${n}`, { name: 'C'.repeat(100), connected_at: n });

interface World {
  readonly shown?: readonly ShownCall[];
  readonly ended?: readonly ShownCall[];
  readonly runs?: readonly RunRecord[];
  readonly tools?: ToolListing[];
  readonly clients?: ClientListing[];
}

function setup({ shown = [], ended = [], runs = [], tools = [], clients = [] }: World = {}) {
  const bus = { seq: 7 };
  let taken = 0;
  const take = createSnapshots({
    devices: () => ({ asking: 0, waiting: 0 }),
    bus,
    calls: {
      watched() {
        taken += 1;
        return shown;
      },
      endedOf: async () => ended,
    },
    runs: { watched: async () => runs },
    registry: { list: () => tools },
    clients: () => clients,
    publishNow: () => {},
  });
  return {
    bus,
    take,
    taken: () => taken,
    async read(runId?: string, parts = false): Promise<{ snapshot: Snapshot; bytes: number }> {
      const { text } = await take({ runId, parts });
      return { snapshot: snapshotSchema.parse(JSON.parse(text.toString())), bytes: text.length };
    },
  };
}

test('[WA5] what happens to a run while its ended calls are read is in the snapshot', async () => {
  const read = Promise.withResolvers<ShownCall[]>();
  let status: RunRecord['status'] = 'running';
  const bus = { seq: 7 };
  const take = createSnapshots({
    devices: () => ({ asking: 0, waiting: 0 }),
    bus,
    calls: { watched: () => [], endedOf: () => read.promise },
    runs: { watched: async () => [{ ...conversation(1, 'Hello'), status }] },
    registry: { list: () => [] },
    clients: () => [],
    publishNow: () => {},
  });
  const asked = take({ runId: 'run_1' });
  // All that does not wait for the calls is done.
  await take();
  status = 'idle';
  bus.seq = 8;
  read.resolve([]);
  const { text } = await asked;
  const { seq, runs } = snapshotSchema.parse(JSON.parse(text.toString()));
  expect({ seq, status: runs[0]?.status }).toEqual({ seq: 8, status: 'idle' });
});

test('[WA11] a hundred who ask at once are sent the very same snapshot, made once', async () => {
  const { take, taken } = setup({ shown: calls(3) });
  const answers = await Promise.all(Array.from({ length: 100 }, () => take()));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(await take()).toBe(answers[0]);
  expect(taken()).toBe(1);
});

test('[WA11] one who asks for something else, or after something has happened, gets another', async () => {
  const { take, taken, bus } = setup();
  const [all, ofRun] = await Promise.all([take(), take({ runId: 'run_1' })]);
  expect(ofRun).not.toBe(all);
  bus.seq += 1;
  expect((await take()).seq).toBe(8);
  await new Promise(setImmediate);
  await take();
  expect(taken()).toBe(4);
});

test('[WA14] of snapshots of many runs one is made in a turn of the event loop', async () => {
  const { take, taken } = setup();
  const all = Promise.all(Array.from({ length: 5 }, (_, n) => take({ runId: `run_${n}` })));
  let before = 0;
  while (taken() < 5) {
    await new Promise((resolve) => setImmediate(resolve));
    expect(taken() - before).toBeLessThanOrEqual(1);
    before = taken();
  }
  expect(await all).toHaveLength(5);
});

test('[WA11] a snapshot that cannot be made fails for those who asked, and not for the next', async () => {
  let fails = true;
  const take = createSnapshots({
    devices: () => ({ asking: 0, waiting: 0 }),
    bus: { seq: 1 },
    calls: { watched: () => [], endedOf: async () => [] },
    runs: {
      async watched() {
        if (fails) throw new Error('the disk is gone');
        return [];
      },
    },
    registry: { list: () => [] },
    clients: () => [],
    publishNow: () => {},
  });
  await expect(take()).rejects.toThrow('the disk is gone');
  fails = false;
  expect((await take()).seq).toBe(1);
});

test('[WA10] 300 calls with 15 kB of arguments, result and preview each are 200 within 1 MiB', async () => {
  const large = 'é'.repeat(7_500);
  const card = { params: { large }, result: large, preview: large, truncated: false };
  const { snapshot, bytes } = await setup({ shown: calls(300, card) }).read();
  expect(bytes).toBeLessThanOrEqual(MIB);
  expect(snapshot.calls).toHaveLength(200);
  expect(snapshot.calls.at(-1)?.card.result).toBe(large);
  const oldest = snapshot.calls[0]?.card;
  const summaries = snapshot.calls.filter(({ card: { result } }) => sizeOf(result) > 900);
  expect(summaries.length).toBeGreaterThan(50);
  expect(oldest).toMatchObject({ truncated: true, result_bytes: 15_000, preview_bytes: 15_000 });
  expect(sizeOf(oldest?.result)).toBeLessThanOrEqual(1_000);
  expect(oldest?.params_bytes).toBe(sizeOf({ large }));
});

test('[WA10] of 10,000 open calls the newest are shown within 1 MiB, and ended ones keep a place', async () => {
  const params = { text: 'x'.repeat(500) };
  const open = calls(10_000, { status: 'WAIT', phase: 'queued', params });
  const shown = [...Array.from({ length: 200 }, (_, n) => call(n - 200)), ...open];
  const { snapshot, bytes } = await setup({ shown }).read();
  expect(bytes).toBeLessThanOrEqual(MIB);
  expect(bytes).toBeGreaterThan(MIB / 2);
  expect(snapshot.calls.at(-1)?.tool_call_id).toBe('tc_9999');
  expect(snapshot.calls.filter(({ card }) => card.status === 'SUCCESS')).toHaveLength(200);
  expect(snapshot.left_out?.calls).toBe(10_200 - snapshot.calls.length);
});

test('[WA10] 10,000 calls that wait for a yes, and long conversations, stay within 1 MiB', async () => {
  const card = { status: 'WAIT' as const, phase: 'approval' as const };
  const runs = Array.from({ length: 20 }, (_, n) => conversation(n, 'x'.repeat(100_000)));
  const { snapshot, bytes } = await setup({ shown: calls(10_000, card), runs }).read();
  expect(bytes).toBeLessThanOrEqual(MIB);
  expect(snapshot.runs).toHaveLength(20);
  expect(snapshot.runs.at(-1)?.messages).toHaveLength(1);
  expect(snapshot.runs[0]).toMatchObject({ messages: [], messages_left_out: 1 });
  expect(snapshot.left_out?.approvals).toBe(10_000 - snapshot.approvals.length);
  // The one that waits longest runs out first.
  expect(snapshot.approvals[0]?.tool_call_id).toBe('tc_0');
});

test('[WA10] the snapshot of one run has its ended calls from the store, each once', async () => {
  const ended = [call(2, { tip: 'stored' }), call(1)];
  const shown = [call(2, { tip: 'live' }), call(3, { status: 'DOING' })];
  const { snapshot } = await setup({ shown, ended }).read('run_1');
  expect(snapshot.calls.map(({ tool_call_id, card }) => [tool_call_id, card.tip])).toEqual([
    ['tc_1', undefined],
    ['tc_2', 'live'],
    ['tc_3', undefined],
  ]);
});

test('[WA12] 256 tools with schemas of 60 kB are listed without them, and say how large they are', async () => {
  const schema = { type: 'object', description: 'x'.repeat(60_000) };
  const small = { type: 'object', properties: { a: { type: 'string' } } };
  const tools = [tool(0, small), ...Array.from({ length: 256 }, (_, n) => tool(n + 1, schema))];
  const { snapshot, bytes } = await setup({ tools }).read();
  expect(bytes).toBeLessThan(200_000);
  expect(snapshot.tools).toHaveLength(257);
  expect(snapshot.tools[0]?.schema).toEqual(small);
  expect(snapshot.tools[1]).toMatchObject({
    schema: {},
    schema_bytes: sizeOf(schema),
  });
});

test('[WA12] 5,000 clients and 5,000 tools are bound, and the rest is counted', async () => {
  const schema = { type: 'object', description: 'x'.repeat(1_000) };
  const { snapshot, bytes } = await setup({
    tools: Array.from({ length: 5_000 }, (_, n) => tool(n, schema)),
    clients: Array.from({ length: 5_000 }, (_, n) => client(n)),
  }).read();
  expect(bytes).toBeLessThanOrEqual(MIB / 2);
  expect(snapshot.left_out).toEqual({
    tools: 5_000 - snapshot.tools.length,
    clients: 5_000 - snapshot.clients.length,
  });
  // Those that come after the room for schemas are still named.
  expect(snapshot.tools.at(-1)).toMatchObject({ schema: {} });
});

const conversation = (n: number, text: string): RunRecord => {
  const id = `run_${n}`;
  const common = { run_id: id, parts: [{ type: 'text', text } as const], created_at: n };
  return {
    ...run(id, { status: 'idle', model: null, step: 0, created_at: n, updated_at: n }),
    messages: [message(`msg_${n}`, { ...common, status: 'done' })],
  };
};

const TEXT = 'a'.repeat(900);
const APPROVAL: Partial<Card> = { status: 'WAIT', phase: 'approval', approval_reason: 'It pays' };

test('[WA16] the first part has what waits and what is open, and says where the ended calls begin', async () => {
  const shown = [...calls(250), call(250, APPROVAL), call(251, { status: 'DOING' })];
  const { snapshot, bytes } = await setup({ shown, tools: [tool(1)] }).read(undefined, true);
  expect(snapshot.calls.map((one) => one.tool_call_id)).toEqual(['tc_250', 'tc_251']);
  expect(snapshot.approvals.map((one) => one.tool_call_id)).toEqual(['tc_250']);
  expect(snapshot).toMatchObject({
    tools: [{ name: 'tool_1' }],
    rest: { ended: expect.stringMatching(/-tc_249$/) },
  });
  expect(bytes).toBeLessThan(4096);
});

test('[WA16] a first part of which there is no rest is all there is', async () => {
  const shown = [call(1, APPROVAL)];
  const { snapshot } = await setup({ shown }).read(undefined, true);
  expect(snapshot).not.toHaveProperty('rest');
});

test('[WA16] the first part takes 60 KiB at most, whatever there is, with the oldest questions in it', async () => {
  const open = Array.from({ length: 2_000 }, (_, n) =>
    call(
      1_000 + n,
      n % 2 === 0 ? { ...APPROVAL, params: { TEXT } } : { status: 'DOING', params: { TEXT } },
    ),
  );
  const { snapshot, bytes } = await setup({
    shown: [...calls(200, { result: TEXT }), ...open],
    runs: Array.from({ length: 20 }, (_, n) => conversation(n, TEXT.repeat(20))),
    tools: Array.from({ length: 300 }, (_, n) => tool(n, { type: 'object', title: TEXT })),
    clients: Array.from({ length: 200 }, (_, n) => client(n)),
  }).read(undefined, true);
  expect(bytes).toBeLessThanOrEqual(60 * 1024);
  expect(snapshot.rest).toEqual({ snapshot: true });
  const [oldest] = snapshot.approvals;
  expect(oldest?.tool_call_id).toBe('tc_1000');
  const card = snapshot.calls.find((one) => one.tool_call_id === 'tc_1000')?.card;
  expect(card).toMatchObject({ params: { TEXT } });
  expect(snapshot.calls.every((one) => one.card.phase === 'approval')).toBe(true);
});
