import { expect, onTestFinished, test } from 'vitest';
import { createMemoryIdentity } from '#lib/client/client-identity';
import { createFixedInstanceId } from '#lib/client/instance-id';
import { createMemoryJournal } from '#lib/client/journal';
import { journalEntry } from '#lib/client/journal.contract';
import { createToolClient } from '#lib/client/tool-client';
import { LIMITS } from '#lib/protocol/limits';
import { principal, serveClients } from './testing/serve-clients.ts';

/** The server with its real limits, and the client library on a real socket to it. */
async function setup() {
  const server = await serveClients();
  const journal = createMemoryJournal({ epoch: 'e' });
  const problems: string[] = [];
  const opens = new Map<string, () => void>();
  const client = createToolClient({
    url: server.url,
    name: 'long away',
    kind: 'program',
    environment: {
      openSocket: (url, protocols) => new WebSocket(url, [...protocols]),
      now: Date.now,
      schedule(ms, fire) {
        const timer = setTimeout(fire, ms);
        return () => clearTimeout(timer);
      },
      random: () => 0,
      newId: () => 'new',
      onWake: () => () => {},
    },
    identity: createMemoryIdentity(),
    instanceId: createFixedInstanceId(() => 'instance'),
    openJournal: async () => journal,
    onProblem: (problem) => problems.push(problem),
    tools: [
      {
        name: 'door',
        description: 'Opens the door',
        parameters: { type: 'object' },
        concurrency: 5_000,
        run: (_args, { callId }) =>
          new Promise((resolve) => opens.set(callId, () => resolve({ output: callId }))),
      },
    ],
  });
  onTestFinished(client.stop);
  const kept = async () => (await journal.entries()).length;
  return { ...server, client, journal, opens, problems, kept };
}

test('[FL1] 3,000 answers given while the line was down all count, and the socket lives', async () => {
  const { client, calls, registry, opens, closed, problems, kept, cut } = await setup();
  await client.start();
  const ids: string[] = [];
  await expect.poll(() => registry.find('door'), { timeout: 20_000 }).toBeDefined();
  while (ids.length < 3_000) {
    const invoke = () =>
      calls.invoke({ principal, tool: 'door', runId: 'run_1', args: {}, timeoutMs: 60_000 });
    for (const outcome of await Promise.all(Array.from({ length: 500 }, invoke))) {
      if (!outcome.ok) throw new Error(outcome.message);
      ids.push(outcome.call.id);
    }
    await expect.poll(() => opens.size, { timeout: 20_000 }).toBe(ids.length);
  }
  cut();
  for (const open of opens.values()) open();
  for (const id of ids) {
    expect(await calls.wait(id, 20_000)).toMatchObject({ status: 'SUCCEEDED', result: id });
  }
  await expect.poll(kept, { timeout: 20_000 }).toBe(0);
  expect([closed, problems]).toEqual([[1006], []]);
}, 60_000);

test('[FL1] as many known calls as a hello may tell are taken in before the client gives up', async () => {
  const { client, journal, closed, kept } = await setup();
  for (let at = 0; at < LIMITS.knownCalls + 500; at += 1)
    await journal.put(journalEntry(`tc_${at}`, { output: 'x' }));
  await client.start();
  await expect.poll(kept, { timeout: 20_000 }).toBeLessThan(LIMITS.knownCalls);
  expect(closed).toEqual([]);
}, 30_000);
