import { once } from 'node:events';
import { expect, test } from 'vitest';
import { serveClients } from './testing/serve-clients.ts';

interface Message {
  readonly type: string;
  readonly nonce?: string;
  readonly resume_token?: string;
  readonly registered?: number;
}

async function setup() {
  const server = await serveClients();
  const connect = async (instance_id: string, more: object = {}) => {
    const client = await server.connect<Message>();
    const { inbox, send } = client;
    const got = async (type: string, nonce?: string) => {
      const isIt = (one: Message) => one.type === type && one.nonce === nonce;
      await expect.poll(() => inbox.some(isIt), { timeout: 60_000, interval: 5 }).toBe(true);
      return inbox.find(isIt);
    };
    send({ type: 'hello', client_id: `of ${instance_id}`, instance_id, ...more });
    const token = (await got('welcome'))?.resume_token;
    return { ...client, got, token };
  };
  return { ...server, connect, open: () => server.connect<Message>() };
}

/** So many tools, each with so many patterns. */
const withPatterns = (
  prefix: string,
  count: number,
  patterns: number,
  of: (key: string) => string,
) =>
  Array.from({ length: count }, (_, tool) => {
    const keys = Array.from({ length: patterns }, (_, i) => `${prefix}${tool}_${i}`);
    const properties = keys.map((key) => [key, { type: 'string', pattern: of(key) }]);
    const parameters = { type: 'object', properties: Object.fromEntries(properties) };
    return { name: `${prefix}_${tool}`, description: 'Takes long to check', parameters };
  });
/** To check one takes longer than a slice; all of them are a small frame. */
const heavy = (prefix: string, count: number) =>
  withPatterns(prefix, count, 5, (key) => `(?:a{30}){30}${key}`);
const register = (tools: readonly object[]) => ({ type: 'register_tools', tools });
const small = { name: 'small', description: 'Small', parameters: { type: 'object' } };

test.each([
  ['100 tools with 380 patterns', withPatterns('t', 100, 380, (key) => `^${key}$`)],
  ['tools with large patterns, in a small frame,', heavy('t', 40)],
])(
  '[TR18] another client is answered again and again while %s are checked, and sees all of them or none',
  async (_, tools) => {
    const { connect, registry } = await setup();
    const [busy, other] = [await connect('busy'), await connect('other')];
    busy.send(register(tools));
    const offered = new Set<number>();
    let answers = 0;
    const isDone = () => busy.inbox.some(({ type }) => type === 'tools_registered');
    while (!isDone()) {
      other.send({ type: 'probe', nonce: `${answers}` });
      await once(other.socket, 'message');
      answers += 1;
      offered.add(registry.namesOf('busy').length);
    }
    // Three at most where the registration is checked at once.
    expect(answers).toBeGreaterThan(6);
    offered.add(registry.namesOf('busy').length);
    expect([...offered]).toEqual([0, tools.length]);
  },
  60_000,
);

test('[TR18] a small registration does not wait for the large ones before it', async () => {
  const { connect } = await setup();
  const [busy, other] = [await connect('busy'), await connect('other')];
  busy.send(register(heavy('t', 40)));
  other.send({ type: 'probe', nonce: 'before' });
  await other.got('probe_ack', 'before');
  other.send(register([small]));
  await other.got('tools_registered');
  expect(busy.inbox.map(({ type }) => type)).toEqual(['welcome']);
  expect(await busy.got('tools_registered')).toMatchObject({ registered: 40 });
});

test('[RG1] what is sent behind a registration, or behind a hello and one, is handled after it', async () => {
  const { connect, open, registry } = await setup();
  const { socket, inbox, send, got } = await connect('one');
  for (const message of [
    register(heavy('t', 5)),
    { type: 'unregister_tools', names: ['t_0'] },
    register([small]),
    { type: 'unregister_tools', names: ['t_1', 'small'] },
    { type: 'probe', nonce: 'last' },
  ]) {
    send(message);
  }
  await got('probe_ack', 'last');
  const types = ['welcome', 'tools_registered', 'tools_registered', 'probe_ack'];
  expect(inbox.map(({ type }) => type)).toEqual(types);
  expect(registry.namesOf('one').sort()).toEqual(['t_2', 't_3', 't_4']);
  socket.terminate();

  const early = await open();
  for (const message of [
    { type: 'hello', instance_id: 'two' },
    register(heavy('u', 3)),
    { type: 'unregister_tools', names: ['u_0'] },
    { type: 'probe', nonce: 'last' },
  ]) {
    early.send(message);
  }
  await expect
    .poll(() => early.inbox.map(({ type }) => type), { timeout: 60_000 })
    .toEqual(['welcome', 'tools_registered', 'probe_ack']);
  expect(registry.namesOf('two').sort()).toEqual(['u_1', 'u_2']);
});

test('[RG2] a client that leaves while its tools are checked offers none of them', async () => {
  const { connect, registry, table, errors } = await setup();
  const [leaving, other] = [await connect('leaving'), await connect('other')];
  leaving.send(register(heavy('t', 40)));
  other.send(register(heavy('u', 60)));
  leaving.socket.terminate();
  await expect.poll(() => table.hasClient('of leaving')).toBe(false);
  expect(await other.got('tools_registered')).toMatchObject({ registered: 60 });
  expect(registry.namesOf('leaving')).toEqual([]);
  expect(registry.find('t_0')).toBeUndefined();
  expect(errors).toEqual([]);
});

test('[RG2] tools of an instance that has a newer session are those of that session', async () => {
  const { connect, registry, errors } = await setup();
  const first = await connect('one');
  const other = await connect('other');
  first.send(register(heavy('t', 40)));
  const second = await connect('one', { resume_token: first.token });
  second.send(register([small]));
  await second.got('tools_registered');
  other.send(register(heavy('u', 60)));
  await other.got('tools_registered');
  expect(registry.namesOf('one')).toEqual(['small']);
  expect(first.inbox.map(({ type }) => type)).toEqual(['welcome']);
  expect(errors).toEqual([]);
});
