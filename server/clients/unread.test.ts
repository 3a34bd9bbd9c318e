import { expect, test } from 'vitest';
import { LIMITS } from '#lib/protocol/limits';
import { principal, serveClients } from './testing/serve-clients.ts';

async function setup() {
  const server = await serveClients();
  return { ...server, ...(await server.connect<{ type: string; id?: string }>()) };
}

const tool = { name: 'scan', description: 'Scans', parameters: { type: 'object' } };

test('[UN1] a client that asks and does not read is cut off when 4 MiB wait for it', async () => {
  const { socket, closed } = await setup();
  socket.pause();
  // Each answer has some 15 kB; what the system itself takes for a socket is a few MiB.
  const bad = Array.from({ length: 64 }, () => ({ name: '!'.repeat(64) }));
  const message = JSON.stringify({ type: 'register_tools', tools: bad });
  for (let sent = 0; sent < 1_900; sent += 1) socket.send(message);
  await expect.poll(() => closed, { timeout: 20_000 }).toEqual([1006]);
});

test('[UN1] 100 requests of the largest size at one moment all reach a client that reads, in order', async () => {
  const { send, inbox, calls, closed } = await setup();
  send({ type: 'register_tools', tools: [tool] });
  await expect.poll(() => inbox.length).toBe(1);
  const args = { text: 'x'.repeat(LIMITS.argsBytes - 1_000) };
  const outcomes = await Promise.all(
    Array.from({ length: 100 }, () =>
      calls.invoke({ principal, tool: 'scan', runId: 'run_1', args, timeoutMs: 60_000 }),
    ),
  );
  const ids = outcomes.map((outcome) => (outcome.ok ? outcome.call.id : outcome.message));
  const requests = () => inbox.filter(({ type }) => type === 'tool_call_request');
  await expect.poll(() => requests().length, { timeout: 20_000 }).toBe(100);
  expect(requests().map(({ id }) => id)).toEqual(ids);
  expect(closed).toEqual([]);
});
