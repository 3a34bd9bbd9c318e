import { afterEach, expect, test } from 'vitest';
import { FIRST_OPERATOR } from '../auth/principal.ts';
import {
  type CallsSetup,
  type SetupOptions,
  setupCalls,
  tool,
} from '../calls/testing/setup-calls.ts';

const open = new Set<CallsSetup>();
afterEach(async () => {
  for (const server of open) await server.close();
  open.clear();
});

const asking: SetupOptions = { check: () => ({ verdict: 'ask', reason: 'look at it' }) };

async function serve() {
  const server = await setupCalls(asking);
  open.add(server);
  const client = server.connect('phone');
  await client.offer(tool('pay'));
  const decide = (id: string, decision: 'yes' | 'no') =>
    server.calls.decide(id, FIRST_OPERATOR, { decision });
  return { ...server, client, decide, server };
}

async function restarted({ server, dir }: Awaited<ReturnType<typeof serve>>) {
  await server.settle();
  await server.close(true);
  open.delete(server);
  const again = await setupCalls({ dir });
  open.add(again);
  await again.calls.recover();
  const client = again.connect('phone');
  await client.offer(tool('pay'));
  const decide = (id: string, decision: 'yes' | 'no') =>
    again.calls.decide(id, FIRST_OPERATOR, { decision });
  return { ...again, client, decide };
}

test('T78 T79 what waits for a person runs nothing over a restart, and runs once after the yes', async () => {
  const before = await serve();
  const { id, routing } = await before.invoke('pay', { to: 'ann' });
  const after = await restarted(before);
  await after.settle();
  expect([...before.client.requests(), ...after.client.requests()]).toEqual([]);
  const waiting = await after.call(id);
  expect(waiting).toMatchObject({ phase: 'approval', args: { to: 'ann' } });
  expect(waiting.routing.approval).toEqual(routing.approval);
  expect(waiting.routing.schemaHash).toBe(routing.schemaHash);
  expect((await after.decide(id, 'yes')).ok).toBe(true);
  expect((await after.decide(id, 'yes')).ok).toBe(false);
  await after.settle();
  expect(after.client.requests().map((one) => one.args)).toEqual([{ to: 'ann' }]);
});
