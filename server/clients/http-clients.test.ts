import { expect, test, vi } from 'vitest';
import type { Caller } from '../auth/principal.ts';
import { operator, setupCalls, tool } from '../calls/testing/setup-calls.ts';
import { instanceAddress } from '../events/memory-bus.ts';
import { startTestServer } from '../http/testing/start-test-server.ts';
import type { CheckedSpec } from '../tools/tool-provider.ts';
import { HttpClients } from './http-clients.ts';
import { Identities } from './identities.ts';
import { KeptRegistrations } from './kept-registrations.ts';

const agent: Caller = { kind: 'agent', name: 'robot', tokenId: 'tok_robot', tools: [] };

async function setup(dir?: string) {
  const calls = await setupCalls(dir === undefined ? {} : { dir });
  const { store, bus, registry, table, clock } = calls;
  const logger = { error: (error: unknown) => void calls.errors.push(error) };
  const identities = new Identities({
    ...{ store, table, clock, logger, instances: calls.calls.instances },
    audit: { record: async () => {} },
    isMadeHere: () => false,
    newId: () => 'unused',
    newSecret: () => 'unused',
    secretAfter: () => 'unused',
  });
  const revoked = new Set<string | null>();
  const service = new HttpClients({
    ...{ store, identities, bus, registry, table, clock, logger },
    registrations: new KeptRegistrations({ store, clock }),
    calls: calls.calls,
    answers: calls.calls.clients,
    instances: calls.calls.instances,
    closing: new AbortController().signal,
    isLive: ({ tokenId }) => !revoked.has(tokenId),
  });
  const still = new AbortController().signal;
  const schema = { type: 'object' };
  const client = (client_id: string, principal: Caller = operator) => ({
    register: (name: string, more: object = {}) =>
      service.register(principal, { client_id, tools: [{ name, schema, ...more }] }),
    async fetch(signal = still) {
      const requests = await service.requests(principal, client_id, 0, signal);
      return requests.map(({ id, attempt }) => [id, attempt]);
    },
    submit: (id: string) => service.submit(principal, id, { status: 'SUCCEEDED', error: null }),
  });
  const revoke = ({ tokenId }: Caller, clientId: string) => {
    revoked.add(tokenId);
    service.end(clientId);
  };
  return { ...calls, service, identities, client, revoke, restore: () => service.restore() };
}

const MINUTE = 60_000;

test('[LV25] of one principal 2,500 clients poll at most, and keep out none of another', async () => {
  const { client, clock } = await setup();
  const all = Array.from({ length: 2_500 }, (_, at) => client(`c${at}`).fetch());
  expect(new Set((await Promise.all(all)).map(String))).toEqual(new Set(['']));
  await expect(client('more').fetch()).rejects.toMatchObject({ code: 'rate_limited' });
  expect(await client('c7').fetch()).toEqual([]);
  expect(await client('other', agent).fetch()).toEqual([]);
  clock.advance(MINUTE);
  expect(await client('more').fetch()).toEqual([]);
});

test('[LV21] the id that stands for each client is refused', async () => {
  const { service } = await setup();
  const server = await startTestServer({ deps: { clients: service } });
  const body = { client_id: 'all', tools: [] };
  for (const { status, json } of [
    await server.post('/internal/tools/register', body),
    await server.get('/internal/clients/all/requests'),
  ]) {
    expect([status, json.error.code]).toEqual([409, 'conflict']);
    expect(json.error.message).toContain('means each client');
  }
});

test('[ID7] an id belongs to the principal that used it first, also after a restart', async () => {
  const before = await setup();
  await before.client('desk').register('print');
  const { id } = await before.invoke('print');
  for (const { client } of [before, await setup(before.dir)]) {
    const other = client('desk', agent);
    await expect(other.register('print')).rejects.toMatchObject({ code: 'conflict' });
    await expect(other.fetch()).rejects.toMatchObject({ code: 'conflict' });
    await expect(other.submit(id)).rejects.toMatchObject({ code: 'permission_denied' });
    expect(await client('desk').register('print')).toMatchObject({ registered_count: 1 });
  }
});

test('[ID7] of two principals that name a free id at a time one is given it', async () => {
  const { client, identities } = await setup();
  const all = await Promise.allSettled([
    client('desk').register('print'),
    client('desk', agent).register('print'),
    client('desk').register('print'),
  ]);
  expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  const hello = { type: 'hello', client_id: 'desk' } as const;
  const other = await identities.ofHello(operator, hello, ({ clientId }) => clientId);
  expect(other).toBe('unused');
});

test('a client that could not be written down has no box that takes its messages', async () => {
  const { client, store, bus } = await setup();
  const write = vi.spyOn(store, 'write').mockRejectedValueOnce(new Error('disk full'));
  await expect(client('desk').register('print')).rejects.toThrow('disk full');
  write.mockRestore();
  const message = { type: 'tool_call_cancel', id: 'tc_1', reason: 'test' } as const;
  const address = instanceAddress('desk', 'http:desk');
  expect(await bus.deliver(address, { type: 'send', message })).toBe(false);
  expect(await client('desk').register('print')).toMatchObject({ registered_count: 1 });
});

/** From now on tools are checked when `finish` says so, by the name of the first. */
function holdChecks({ registry }: Awaited<ReturnType<typeof setup>>) {
  const { check } = registry;
  const held = new Map<string, () => void>();
  vi.spyOn(registry, 'check').mockImplementation(async (specs) => {
    const checked: readonly CheckedSpec[] = await check(specs);
    const [first] = checked;
    await new Promise<void>((resolve) =>
      held.set(first?.ok ? first.tool.description : '', resolve),
    );
    return checked;
  });
  return async (description: string) => {
    await vi.waitUntil(() => held.has(description));
    held.get(description)?.();
  };
}

test('[RG1] of two registrations of one client the later one counts, however soon it is checked', async () => {
  const made = await setup();
  const finish = holdChecks(made);
  const desk = made.client('desk');
  const both = [desk.register('print', { description: 'First' })];
  both.push(desk.register('print', { description: 'Second' }));
  await finish('Second');
  await finish('First');
  const [first] = await Promise.all(both);
  expect(first).toMatchObject({ registered_count: 1 });
  expect(made.registry.listing('print', 1)?.description).toBe('Second');
});

test('[RG2] a client that was silent too long while its tools were checked is there again, and leaves again', async () => {
  const made = await setup();
  const { client, clock, registry, table, settle } = made;
  const finish = holdChecks(made);
  const registered = client('desk').register('print', { description: 'Prints' });
  await vi.waitUntil(() => table.hasClient('desk'));
  await clock.advance(MINUTE + 1_000);
  expect(table.hasClient('desk')).toBe(false);
  await finish('Prints');
  expect(await registered).toMatchObject({ registered_count: 1 });
  expect([table.hasClient('desk'), registry.namesOf('http:desk')]).toEqual([true, ['print']]);
  await clock.advance(MINUTE + 1_000);
  await settle();
  expect([table.hasClient('desk'), registry.namesOf('http:desk')]).toEqual([false, []]);
});

test('[RG3] a client whose token is revoked while its tools are checked is not there again', async () => {
  const made = await setup();
  const { client, table, revoke, registry } = made;
  const device: Caller = { kind: 'device', clientId: 'lamp', tokenId: 'tok_lamp' };
  const finish = holdChecks(made);
  const registered = client('lamp', device).register('print', { description: 'Prints' });
  await vi.waitUntil(() => table.hasClient('lamp'));
  revoke(device, 'lamp');
  const refused = expect(registered).rejects.toMatchObject({ code: 'conflict' });
  await finish('Prints');
  await refused;
  expect([table.hasClient('lamp'), registry.namesOf('http:lamp')]).toEqual([false, []]);
});

test('[ID8] what is handed out is granted on disk before, and is not handed out again', async () => {
  const { client, invoke, store } = await setup();
  const desk = client('desk');
  await desk.register('print', { timeout_ms: 5_000 });
  const { id } = await invoke('print');
  expect(await store.getCall(id)).toMatchObject({ phase: 'offered', granted: false });
  expect(await desk.fetch()).toEqual([[id, 1]]);
  expect(await store.getCall(id)).toMatchObject({ phase: 'granted', granted: true });
  expect(await desk.fetch()).toEqual([]);
  expect(await desk.submit(id)).toBe('SUCCEEDED');
});

test('[ID8] a request whose claim cannot be written keeps no other back, and is not lost', async () => {
  const { client, invoke, store } = await setup();
  const desk = client('desk');
  await desk.register('print');
  const [first, second] = [await invoke('print'), await invoke('print')];
  const failOnce = () =>
    vi.spyOn(store, 'write').mockRejectedValueOnce(new Error('this could not be written'));
  failOnce();
  expect(await desk.fetch()).toEqual([[second.id, 1]]);
  failOnce();
  await expect(desk.fetch()).rejects.toThrow('this could not be written');
  expect(await desk.fetch()).toEqual([[first.id, 1]]);
  expect(await store.getCall(first.id)).toMatchObject({ phase: 'granted', granted: true });
});

test('[ID8] until it is fetched a call has the time of the queue, and is asked once', async () => {
  const { client, invoke, clock, settle, call } = await setup();
  const desk = client('desk');
  await desk.register('print', { timeout_ms: 1_000 });
  const [fetched, left] = [await invoke('print'), await invoke('print')];
  clock.advance(29_000);
  await settle();
  expect(await desk.fetch()).toEqual([
    [fetched.id, 1],
    [left.id, 1],
  ]);
  expect(await desk.submit(fetched.id)).toBe('SUCCEEDED');
  const late = await invoke('print');
  clock.advance(30_000);
  await settle();
  expect((await call(left.id)).error).toMatchObject({ clock: 'execute' });
  expect((await call(late.id)).error).toMatchObject({ clock: 'queue', executed: 'no' });
  expect(await desk.fetch()).toEqual([]);
});

test('[ID8] what a client had not fetched when it was gone goes to another, what it had waits for it', async () => {
  const { client, connect, invoke, clock, settle, call } = await setup();
  const desk = client('desk');
  await desk.register('print', { timeout_ms: 300_000 });
  const { id: fetched } = await invoke('print');
  expect(await desk.fetch()).toEqual([[fetched, 1]]);
  clock.advance(MINUTE - 1_000);
  const { id } = await invoke('print');
  const phone = connect('phone', { claims: true, epoch: 'e' });
  phone.offer(tool('print'));
  clock.advance(1_000);
  await settle();
  expect(phone.requests()).toMatchObject([{ id, attempt: 2 }]);
  // Longer than the grace in which a client with a journal has to be back.
  clock.advance(3 * MINUTE);
  await settle();
  expect((await call(fetched)).phase).toBe('granted');
  expect(await desk.submit(fetched)).toBe('SUCCEEDED');
});

test('[ID8] a poll that was given up takes nothing with it', async () => {
  const { client, invoke } = await setup();
  const desk = client('desk');
  await desk.register('print');
  const { id } = await invoke('print');
  const disconnected = new AbortController();
  const polled = desk.fetch(disconnected.signal);
  // It hangs up while what it shall be given is being written.
  await Promise.resolve().then(() => disconnected.abort());
  expect(await polled).toEqual([]);
  expect(await desk.fetch()).toEqual([[id, 1]]);
});

test('[ID8] over a restart what was not fetched is asked again, and what was is answered', async () => {
  const before = await setup();
  await before.client('desk').register('print', { timeout_ms: 300_000 });
  const { id: fetched } = await before.invoke('print');
  await before.client('desk').fetch();
  const { id } = await before.invoke('print');
  const after = await setup(before.dir);
  await after.calls.recover(before.clock.moment());
  const desk = after.client('desk');
  await desk.register('print', { timeout_ms: 300_000 });
  await after.settle();
  expect(await desk.fetch()).toEqual([[id, 2]]);
  for (const one of [fetched, id]) expect(await desk.submit(one)).toBe('SUCCEEDED');
});

test('[ID8] an answer to what was not fetched counts: the client knew of the call', async () => {
  const { client, invoke } = await setup();
  const desk = client('desk');
  await desk.register('print');
  const { id } = await invoke('print');
  expect(await desk.submit(id)).toBe('SUCCEEDED');
  expect(await desk.fetch()).toEqual([]);
});

test('[ID9] tools of a client that polls are there again after a restart, for the grace of a return', async () => {
  const before = await setup();
  await before.client('desk').register('print');
  await before.client('desk').register('scan');
  await before.client('gone').register('fax');
  await before.clock.advance(MINUTE - 1_000);
  await before.client('desk').fetch();
  await before.clock.advance(2_000);
  await before.settle();

  const after = await setup(before.dir);
  await after.restore();
  expect(after.registry.namesOf('http:desk')).toEqual(['print', 'scan']);
  expect(after.registry.namesOf('http:gone')).toEqual([]);
  const { id } = await after.invoke('print');
  expect(await after.client('desk').fetch()).toEqual([[id, 1]]);

  const third = await setup(before.dir);
  await third.restore();
  await third.clock.advance(119_000);
  expect(third.registry.namesOf('http:desk')).toEqual(['print', 'scan']);
  await third.clock.advance(2_000);
  expect(third.registry.namesOf('http:desk')).toEqual([]);
});

test('[ID9] a client whose token was revoked meanwhile is not there again', async () => {
  const before = await setup();
  await before.client('desk', agent).register('print');
  const after = await setup(before.dir);
  after.revoke(agent, 'desk');
  await after.restore();
  expect(after.registry.namesOf('http:desk')).toEqual([]);
});

test('[LV24] a client that polls is alive for a minute after it has submitted', async () => {
  const { client, invoke, clock, table } = await setup();
  const desk = client('desk');
  await desk.register('print', { timeout_ms: 300_000 });
  const { id } = await invoke('print');
  await desk.fetch();
  await clock.advance(MINUTE - 1_000);
  await desk.submit(id);
  await clock.advance(MINUTE - 1_000);
  expect(table.hasClient('desk')).toBe(true);
});
