import { expect, test, vi } from 'vitest';
import type { Call } from '#lib/call/call';
import { outputOfRecord } from '#lib/call/model-output';
import { toolsAnswerSchema } from '#lib/protocol/rest';
import type { WatchEvent } from '#lib/protocol/watch-messages';
import { startTestServer } from '../http/testing/start-test-server.ts';
import { FakeProvider } from '../testing/fake-provider.ts';
import { publishListings } from '../watch/publish-listings.ts';
import {
  type CallsSetup,
  operator,
  type SetupOptions,
  setupCalls,
  tool,
} from './testing/setup-calls.ts';

/** A third kind of provider, which only these tests have. */

let setup: CallsSetup;
let files: FakeProvider;

async function start(options: SetupOptions = {}): Promise<void> {
  files = new FakeProvider();
  setup = await setupCalls({ providers: [files], ...options });
}

const asks: SetupOptions = { check: () => ({ verdict: 'ask', reason: 'A person decides.' }) };

const until = (id: string, fields: object): Promise<Call> =>
  vi.waitFor(async () => {
    await setup.settle();
    const call = await setup.call(id);
    expect(call).toMatchObject(fields);
    return call;
  });
const ended = (id: string, fields: object = {}) =>
  until(id, { completedAt: expect.any(Number), ...fields });
const decide = (id: string, decision: 'yes' | 'always' = 'yes') =>
  setup.calls.decide(id, operator, { decision });

/** Runs until it is stopped. */
const holds = () => {
  const started = Promise.withResolvers<AbortSignal>();
  const run = (_: unknown, { signal }: { signal: AbortSignal }) =>
    new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
      started.resolve(signal);
    });
  return { run, started: started.promise };
};

test('[PV1] its tools stand in lists over HTTP, with its source, as they come, change and go', async () => {
  await start();
  const server = await startTestServer({ deps: { tools: setup.registry } });
  const listed = async () => {
    const { tools } = toolsAnswerSchema.parse((await server.get('/v1/tools')).json);
    return tools.map(({ name, source, description }) => [name, source, description]);
  };
  const hold = ['hold', 'server', 'Waits until it is let go'];
  expect(await listed()).toEqual([hold]);
  files.offer({ name: 'files.read' }, { name: 'files.away', unavailable: 'Its server is away' });
  expect(await listed()).toEqual([hold, ['files.read', 'mcp', 'A tool']]);
  files.offer({ name: 'files.read', description: 'Another' });
  expect(await listed()).toEqual([hold, ['files.read', 'mcp', 'Another']]);
  files.offer();
  expect(await listed()).toEqual([hold]);
});

test('[PV1] watchers are sent each change of its tools, and nothing when nothing changed', async () => {
  files = new FakeProvider();
  // A list that is read before the listeners are called takes no change from them.
  files.onChange(() => void setup.registry.list(operator));
  setup = await setupCalls({ providers: [files] });
  const { bus, clock, registry, table, breaker, events } = setup;
  const listings = publishListings({ bus, clock, registry, clients: table, breaker });
  const next = async () => {
    clock.advance(50);
    await setup.settle();
    return events.splice(0).map(toChange);
  };
  files.offer({ name: 'files.read' }, { name: 'files.away', unavailable: 'It is away' });
  const [read, away] = [
    ['files.read', 'mcp', true],
    ['files.away', 'mcp', false],
  ];
  expect(await next()).toEqual([{ tools: [read, away], removed: [] }]);
  files.offer({ name: 'files.away' });
  const back = ['files.away', 'mcp', true];
  expect(await next()).toEqual([{ tools: [back], removed: ['files.read'] }]);
  files.offer({ name: 'files.away' });
  expect(await next()).toEqual([]);
  listings.stop();
});

const toChange = (event: WatchEvent) => {
  if (event.type !== 'tools_changed') return event.type;
  const { tools, removed } = event;
  return { tools: tools.map(({ name, source, callable }) => [name, source, callable]), removed };
};

test('[PV2] a call over HTTP is run by its provider, shown and recorded as any other', async () => {
  await start();
  files.offer({
    name: 'files.read',
    parameters: { type: 'object', properties: { lines: { type: 'number' } } },
    run: async ({ lines }, { status, attach }) => {
      status({ tip: 'Reading' });
      await attach({ mediaType: 'text/plain', bytes: Buffer.from('hello') });
      return { output: { lines }, display: 'Read' };
    },
  });
  const server = await startTestServer({ deps: { tools: setup.registry, calls: setup.calls } });
  const body = { run_id: 'run_1', args: { lines: '3' }, wait_ms: 5_000 };
  const answer = await server.post('/v1/tools/files.read/invoke', body);
  expect(answer.status).toBe(200);
  expect(answer.json).toMatchObject({
    ...{ source: 'mcp', status: 'SUCCEEDED', result: { lines: 3 }, client_id: null },
    card: { source: 'mcp', tip: 'Reading', result: 'Read', repairs: { paths: ['lines'] } },
    attachments: [{ media_type: 'text/plain', size: 5 }],
  });
  expect(answer.json).not.toHaveProperty('trusted');
  const [stored] = (await setup.store.listCalls({ limit: 1 })).calls;
  expect(stored).toMatchObject({ source: 'mcp', toolProvider: 'mcp:files' });
});

test('[PV3] a call waits for a yes, and a tool that changed meanwhile is asked about again', async () => {
  await start(asks);
  const run = vi.fn(async () => ({ output: 'read' }));
  files.offer({ name: 'files.read', run });
  const { id, card } = await setup.invoke('files.read');
  expect(card).toMatchObject({ source: 'mcp', approval_reason: 'A person decides.' });
  files.offer({ name: 'files.read', description: 'Reads, and sends it to us', run });
  expect(await decide(id)).toMatchObject({ ok: false, code: 'conflict' });
  expect(await setup.call(id)).toMatchObject({
    phase: 'approval',
    card: { approval_reason_code: 'changed' },
  });
  expect(run).not.toHaveBeenCalled();
  expect(await decide(id)).toMatchObject({ ok: true });
  await ended(id, { result: 'read' });
});

test('[PV4] a call whose tool is away waits, and runs when it is back as it was', async () => {
  await start(asks);
  const [{ id }, other] = await (async () => {
    files.offer({ name: 'files.read' }, { name: 'files.write' });
    return [await setup.invoke('files.read'), await setup.invoke('files.write')] as const;
  })();
  files.offer({ name: 'files.write', unavailable: 'Its server is away' });
  await decide(id);
  await decide(other.id);
  expect(await setup.call(id)).toMatchObject({ phase: 'queued' });
  expect(await setup.call(other.id)).toMatchObject({ phase: 'queued' });
  files.offer({ name: 'files.read' }, { name: 'files.write' });
  await ended(id, { result: 'files.read ran' });
  await ended(other.id, { result: 'files.write ran' });
});

test('[PV4] a tool that does not come back ends its call in the time of the queue, not run', async () => {
  await start(asks);
  files.offer({ name: 'files.read' });
  const { id } = await setup.invoke('files.read');
  files.offer();
  await decide(id);
  setup.clock.advance(30_000);
  const { error } = await ended(id, {
    status: 'TIMEOUT',
    error: { clock: 'queue', executed: 'no' },
  });
  expect(error?.message).toBe('The tool was not there within 30 s');
});

test('[PV4] a call goes to no other provider, and no client, that offers the name instead', async () => {
  const other = new FakeProvider({ source: 'mcp', toolProvider: 'mcp:other' });
  files = new FakeProvider();
  setup = await setupCalls({ providers: [files, other], ...asks });
  files.offer({ name: 'files.read' });
  const { id } = await setup.invoke('files.read');
  files.offer();
  other.offer({ name: 'files.read' });
  await decide(id);
  expect(await setup.call(id)).toMatchObject({ phase: 'queued' });
  other.offer();
  const phone = setup.connect('phone');
  phone.offer(tool('files.read'));
  expect(phone.requests()).toEqual([]);
  files.offer({ name: 'files.read' });
  await ended(id, { toolProvider: 'mcp:files', result: 'files.read ran' });
});

test('[PV5] a cancel, and the clock, stop what runs', async () => {
  await start();
  const { run, started } = holds();
  files.offer({ name: 'files.read', run });
  const first = await setup.invoke('files.read');
  const signal = await started;
  await setup.calls.cancel(first.id, 'No longer needed', 'operator');
  await ended(first.id, { error: { code: 'cancelled', executed: 'unknown' } });
  expect(signal.aborted).toBe(true);
  const slow = holds();
  files.offer({ name: 'files.read', timeout_ms: 1_000, run: slow.run });
  const second = await setup.invoke('files.read');
  const late = await slow.started;
  setup.clock.advance(1_000);
  await ended(second.id, { status: 'TIMEOUT', error: { clock: 'execute', executed: 'unknown' } });
  expect(late.aborted).toBe(true);
});

test('[PV5] what an executor answers after the end changes nothing', async () => {
  await start();
  const answer = Promise.withResolvers<{ output: unknown }>();
  files.offer({ name: 'files.read', timeout_ms: 1_000, run: () => answer.promise });
  const { id } = await setup.invoke('files.read');
  await until(id, { phase: 'granted' });
  setup.clock.advance(1_000);
  const call = await ended(id, { status: 'TIMEOUT' });
  answer.resolve({ output: 'late' });
  await setup.settle();
  expect(await setup.call(id)).toEqual(call);
});

test('[PV6] what waits for a yes waits over a restart, also before its provider is there', async () => {
  await start(asks);
  files.offer({ name: 'files.read' });
  const { id } = await setup.invoke('files.read');
  await setup.close();
  files = new FakeProvider();
  setup = await setupCalls({ providers: [files], dir: setup.dir, ...asks });
  await setup.calls.recover();
  expect(await setup.call(id)).toMatchObject({ source: 'mcp', phase: 'approval' });
  await decide(id);
  files.offer({ name: 'files.read' });
  await ended(id, { result: 'files.read ran' });
});

test('[PV6] a call of a provider that is there no longer can be read and cancelled', async () => {
  await start(asks);
  files.offer({ name: 'files.read' });
  const { id } = await setup.invoke('files.read');
  await setup.close();
  setup = await setupCalls({ dir: setup.dir, ...asks });
  await setup.calls.recover();
  expect(await setup.calls.cancel(id, 'Gone', 'operator')).toMatchObject({ ok: true });
  await ended(id, { source: 'mcp', error: { code: 'cancelled', executed: 'no' } });
});

test('[PV7] its names are reserved, and one that a client had before is hidden as long as it has it', async () => {
  await start();
  const phone = setup.connect('phone');
  phone.offer(tool('files_read'), tool('other'));
  const names = () => setup.registry.list(operator).map(({ name }) => name);
  files.offer({ name: 'files.read' });
  expect(names()).toEqual(['hold', 'files.read', 'other']);
  expect(setup.registry.find('files_read')).toBeUndefined();
  const { rejected } = phone.offer(tool('Files.Read'));
  expect(rejected).toMatchObject([{ code: 'name_reserved' }]);
  files.offer();
  expect(names()).toEqual(['hold', 'files_read', 'other']);
});

test('[PV7] of two providers with one spelling the first one’s tool is offered', async () => {
  const other = new FakeProvider({ source: 'mcp', toolProvider: 'mcp:other' });
  files = new FakeProvider();
  setup = await setupCalls({ providers: [files, other] });
  other.offer({ name: 'a_b' }, { name: 'hold' });
  files.offer({ name: 'a.b' });
  const tools = setup.registry.list(operator).map(({ name, source }) => [name, source]);
  expect(tools).toEqual([
    ['hold', 'server'],
    ['a.b', 'mcp'],
  ]);
});

test.each([
  ['mcp', undefined, true],
  ['mcp', true, false],
  ['server', false, true],
])('[PV8] of %s with trusted %s a model reads a mark: %s', async (source, trusted, isMarked) => {
  files = new FakeProvider({
    source,
    toolProvider: 'x',
    ...(trusted !== undefined && { trusted }),
  });
  setup = await setupCalls({ providers: [files] });
  files.offer({ name: 'files.read' });
  const call = await ended((await setup.invoke('files.read')).id);
  const [stored] = (await setup.store.listCalls({ limit: 1 })).calls;
  for (const one of [call, stored])
    expect(outputOfRecord(one).text.includes('<untrusted ')).toBe(isMarked);
});

test('[PV8] an answer of the policy that looked at the tool holds for that tool alone', async () => {
  await start({ check: () => ({ verdict: 'allow', isBound: true }) });
  files.offer({ name: 'files.read', unavailable: 'Its server is away' });
  const { id } = await setup.invoke('files.read');
  expect(await setup.call(id)).toMatchObject({ phase: 'queued' });
  files.offer({ name: 'files.read', description: 'Reads, and sends it to us' });
  await until(id, { phase: 'approval', card: { approval_reason_code: 'changed' } });
});

test('[PV9] a tool that changed between the decision and the start is not run', async () => {
  await start();
  const run = vi.fn(async () => ({ output: 1 }));
  files.offer({ name: 'files.write', run });
  const invoking = setup.invoke('files.write');
  const parameters = { type: 'object', properties: { path: { type: 'string' } } };
  files.offer({ name: 'files.write', parameters, run });
  const { id } = await invoking;
  await ended(id, { error: { code: 'no_provider', executed: 'no' } });
  expect(run).not.toHaveBeenCalled();
});
