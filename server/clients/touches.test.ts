import { expect, test, vi } from 'vitest';
import { TokenBuckets } from '#lib/limits/token-bucket';
import type { ClientMessage } from '#lib/protocol/client-messages';
import { operator, setupCalls, tool } from '../calls/testing/setup-calls.ts';
import { type ClientSession, createClientSessions } from './client-session.ts';
import { Identities } from './identities.ts';
import { parseClientFrame } from './parse-client-frame.ts';

/** Sessions on the real store, bus, registry and calls; only time and the channels are the test's. */
async function setup() {
  const one = await setupCalls();
  const { store, bus, registry, table, calls, clock, errors } = one;
  let ids = 0;
  const logger = { error: (cause: unknown) => void errors.push(cause), info: () => {} };
  const identities = new Identities({
    ...{ store, table, clock, logger, instances: calls.instances },
    audit: { record: async () => {} },
    isMadeHere: (id) => id.startsWith('id_'),
    newId: () => `id_${++ids}`,
    newSecret: () => `secret_${++ids}`,
    secretAfter: (token) => `${token}+`,
  });
  const sessions = createClientSessions({
    ...{ identities, bus, registry, table, logger },
    calls: calls.clients,
    instances: calls.instances,
    uploads: new TokenBuckets({ burst: Infinity, perSecond: 1 }, Date.now, 1),
    blobs: {
      put: () => Promise.reject(),
      find: () => Promise.reject(),
      read: () => Promise.reject(),
    },
    heartbeatMs: 10_000,
  });
  const connect = async (instance_id: string, more: object = {}) => {
    clock.advance(10);
    const sent: { type: string; resume_token?: string }[] = [];
    const channel = { send: (message: { type: string }) => void sent.push(message), close() {} };
    const session = sessions.open(operator, channel);
    session.receive({ type: 'hello', client_id: `of ${instance_id}`, instance_id, ...more });
    await one.settle();
    await session.receive({ type: 'register_tools', tools: [tool('shot')] });
    return { session, token: () => sent.find(({ type }) => type === 'welcome')?.resume_token };
  };
  const order = () => {
    const target = registry.find('shot');
    return [...(target?.candidates ?? [])].map((one) => one.instanceId);
  };
  const send = (session: Pick<ClientSession, 'receive'>, message: ClientMessage) => {
    clock.advance(10);
    return session.receive(message);
  };
  return { ...one, connect, order, send };
}

test('[LT1] what a program does by itself is no touch; what a person does is', async () => {
  const { connect, order, send, invoke, settle } = await setup();
  const a = await connect('a');
  const b = await connect('b');
  expect(order()).toEqual(['b', 'a']);
  const { id } = await invoke('shot', {}, { clientId: 'of a' });
  for (const message of [
    { type: 'probe_ack', nonce: 'n' },
    { type: 'probe', nonce: 'n' },
    { type: 'tool_status', id, tip: 'Working' },
    { type: 'tool_result', id, output: 'done' },
    { type: 'client_state', visibility: 'visible' },
    { type: 'client_state', touched: false },
    { type: 'register_tools', tools: [tool('shot')] },
  ] satisfies ClientMessage[]) {
    const handled = send(a.session, message);
    await settle();
    await handled;
    expect(order()).toEqual(['b', 'a']);
  }
  send(a.session, { type: 'client_state', touched: true });
  expect(order()).toEqual(['a', 'b']);
  send(b.session, { type: 'client_state', touched: true });
  expect(order()).toEqual(['b', 'a']);
});

test('[LT2] a client counts as touched when it connects, and coming back is no touch', async () => {
  const { connect, order, send } = await setup();
  const a = await connect('a');
  send(a.session, { type: 'client_state', touched: true });
  const b = await connect('b');
  expect(order()).toEqual(['b', 'a']);
  send(b.session, { type: 'client_state', touched: true });
  a.session.closed();
  await connect('a', { resume_token: a.token() });
  expect(order()).toEqual(['b', 'a']);
  await connect('c');
  expect(order()).toEqual(['c', 'b', 'a']);
});

test('[LT5] a touch that is reported late counts from when it was, not from when it came', async () => {
  const { connect, order, send, clock } = await setup();
  const a = await connect('a');
  send(a.session, { type: 'client_state', touched: true });
  const b = await connect('b');
  clock.advance(5_000);
  send(b.session, { type: 'client_state', touched: true, touched_ago_ms: 0 });
  send(a.session, { type: 'client_state', touched: true, touched_ago_ms: 1_000 });
  expect(order()).toEqual(['b', 'a']);
  // Neither does it take back what is known already: a touch, or that it has just connected.
  send(b.session, { type: 'client_state', touched: true, touched_ago_ms: 1e9 });
  expect(order()).toEqual(['b', 'a']);
  const c = await connect('c');
  send(c.session, { type: 'client_state', touched: true, touched_ago_ms: 1e9 });
  expect(order()).toEqual(['c', 'b', 'a']);
});

test('[LT4] however often a client changes its state, nothing is written', async () => {
  const { connect, send, invoke, settle, store, calls, events, errors } = await setup();
  const { session } = await connect('a');
  const { id } = await invoke('shot', {}, { clientId: 'of a' });
  await calls.clients.claim({ clientId: 'of a', instanceId: 'a', attempt: 1 }, id);
  await settle();
  const write = vi.spyOn(store, 'write');
  const before = events.length;
  for (let round = 0; round < 100; round += 1) {
    const permissions = { camera: 'denied' } as const;
    send(session, { type: 'client_state', visibility: 'hidden', permissions });
    send(session, { type: 'client_state', visibility: 'visible', permissions: {}, touched: true });
    session.setResponsive(false);
    session.setResponsive(true);
  }
  await settle();
  const written = write.mock.calls.flatMap(([changes]) => changes);
  expect([written, events.length - before, errors]).toEqual([[], 0, []]);
});

test('[LT3] of instances that do not come back only the newest thousand touches are kept', async () => {
  const { table, clock } = await setup();
  const touch = (n: number) => {
    clock.advance(1);
    table.touch(`i${n}`);
  };
  for (let n = 0; n < 1_000; n += 1) touch(n);
  touch(0);
  touch(1_000);
  expect(table.availability('i1').lastTouchedAt).toBe(0);
  expect(table.availability('i0').lastTouchedAt).toBeGreaterThan(0);
  expect(table.availability('i2').lastTouchedAt).toBeGreaterThan(0);
});

test('[LV20] the battery that a client reports is listed, and one that makes no sense is not', async () => {
  const { connect, table } = await setup();
  const { session } = await connect('a');
  const report = async (battery: unknown) => {
    const frame = parseClientFrame(JSON.stringify({ type: 'client_state', battery }));
    if (!frame.ok) throw new Error(frame.message);
    await session.receive(frame.message);
    return table.listings('of a')[0]?.battery;
  };
  expect(await report({ level: 42, charging: true })).toBeUndefined();
  const half = { level: 0.5, charging: false };
  expect(await report(half)).toEqual(half);
  for (const wrong of [null, 0.4, { level: -1, charging: true }, { level: 0.4 }]) {
    expect(await report(wrong)).toEqual(half);
  }
});
