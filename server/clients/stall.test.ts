import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { principal, serveClients } from './testing/serve-clients.ts';

/** Everything in this thread stands still: the server, its timers, its sockets. */
const pauseClock = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

async function setup(workerData: { claims: boolean; answerAfterMs: number }) {
  const server = await serveClients();
  const client = new Worker(new URL('./testing/answering-client.ts', import.meta.url), {
    workerData: { ...workerData, url: server.url },
  });
  onTestFinished(() => void client.terminate());
  await once(client, 'message');
  const outcome = await server.calls.invoke({
    principal,
    tool: 'echo',
    runId: 'run_1',
    args: {},
  });
  if (!outcome.ok) throw new Error(outcome.message);
  await once(client, 'message');
  return { ...server, id: outcome.call.id };
}

test.each([1_100, 1_800])(
  '[CK2] an answer that came while the server stood still counts, though the clock ran out (%d ms)',
  async (ms) => {
    const { calls, id, closed, errors } = await setup({ claims: false, answerAfterMs: 100 });
    pauseClock(ms);
    expect(await calls.wait(id, 10_000)).toMatchObject({ status: 'SUCCEEDED', result: 'in time' });
    expect([closed, errors]).toEqual([[], []]);
  },
);

test('[CK2] a claim that came while the server stood still counts, though its start clock ran out', async () => {
  const { calls, id } = await setup({ claims: true, answerAfterMs: 100 });
  pauseClock(6_500);
  await expect.poll(async () => (await calls.get(id))?.phase).toBe('granted');
  expect((await calls.get(id))?.provider?.attempt).toBe(1);
});
