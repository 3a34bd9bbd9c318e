import { expect, test, vi } from 'vitest';
import { LIMITS } from '#lib/protocol/limits';
import { principal, serveClients } from './testing/serve-clients.ts';

type Message = { type: string; id: string; disposition?: string };

const CLIENTS = 3;
const CALLS = 6;

async function setup() {
  const server = await serveClients();
  const sockets = await Promise.all(
    Array.from({ length: CLIENTS }, async (_, number) => {
      const { socket, inbox, send } = await server.connect<Message>();
      const tool = { name: `scan_${number}`, description: 'Scans', parameters: { type: 'object' } };
      send({ type: 'register_tools', tools: [tool] });
      await expect.poll(() => inbox.length).toBe(1);
      return { socket, inbox };
    }),
  );
  return { ...server, sockets };
}

test('[UN2] of large results from several clients one at a time is in memory, and all are taken, in order', async () => {
  const { sockets, calls, store, errors } = await setup();
  let most = 0;
  let now = 0;
  const { write } = store;
  store.write = async (changes) => {
    const isLarge = changes.some((one) => one.type === 'append_call' && one.event.patch.result);
    now += isLarge ? 1 : 0;
    most = Math.max(most, now);
    await write(changes);
    now -= isLarge ? 1 : 0;
  };
  for (let call = 0; call < CLIENTS * CALLS; call += 1) {
    const tool = `scan_${call % CLIENTS}`;
    await calls.invoke({ principal, tool, runId: 'run_1', args: {}, timeoutMs: 60_000 });
  }
  const output = 'x'.repeat(LIMITS.resultBytes - 1_000);
  const of = (type: string) => sockets.map(({ inbox }) => inbox.filter((one) => one.type === type));
  await expect.poll(() => of('tool_call_request').flat().length).toBe(CLIENTS * CALLS);
  const requests = of('tool_call_request');
  for (const [number, { socket }] of sockets.entries()) {
    for (const { id } of requests[number] ?? []) {
      socket.send(JSON.stringify({ type: 'tool_result', id, output, success: true }));
    }
    socket.send(JSON.stringify({ type: 'probe', nonce: 'behind them' }));
  }
  await expect.poll(() => of('probe_ack').flat().length, { timeout: 60_000 }).toBe(CLIENTS);
  const answered = of('result_acknowledged').map((inbox) => inbox.map(({ id }) => id));
  expect(answered).toEqual(requests.map((inbox) => inbox.map(({ id }) => id)));
  expect(most).toBe(1);
  const stored = await store.getCall(requests.flat()[0]?.id ?? '');
  expect(stored?.result === output).toBe(true);
  expect(errors).toEqual([]);
}, 120_000);

test('[UN2] a large result becomes JSON text once, for its size, its hash, its event and its row', async () => {
  const { sockets, calls, store } = await setup();
  const [client] = sockets;
  const invoked = { principal, tool: 'scan_0', runId: 'run_1', args: {}, timeoutMs: 60_000 };
  await calls.invoke(invoked);
  await expect.poll(() => client?.inbox.length).toBe(2);
  const id = client?.inbox[1]?.id ?? '';
  const output = Array.from({ length: 2_000 }, (_, n) => ({ n, text: `"é" ${'x'.repeat(500)}` }));
  const display = { rows: output.length };
  const message = { type: 'tool_result', id, output, display, success: true };
  const frame = JSON.stringify(message);
  const stringify = vi.spyOn(JSON, 'stringify');
  client?.socket.send(frame);
  await expect.poll(() => client?.inbox.length, { timeout: 20_000 }).toBe(3);
  const made = stringify.mock.results.map(({ value }) => String(value).length);
  stringify.mockRestore();
  expect(made.filter((length) => length > frame.length / 2)).toHaveLength(1);
  const stored = await store.getCall(id);
  expect([stored?.result, stored?.display]).toEqual([output, display]);
  const events = await store.callEvents(id, { after: 0, limit: 10 });
  expect(events.at(-1)?.patch).toMatchObject({ result: output, display, status: 'SUCCEEDED' });
}, 60_000);
