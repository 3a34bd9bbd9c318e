import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { LIMITS } from '#lib/protocol/limits';
import {
  startTestServer,
  type TestServerOptions,
  TOKENS,
} from '../http/testing/start-test-server.ts';
import { createClientStreams } from './client-streams.ts';
import { openStream } from './testing/open-stream.ts';
import { principal, serveClients } from './testing/serve-clients.ts';

const TOKEN = TOKENS.operator;
const tool = (name: string) => ({ name, description: name, parameters: { type: 'object' } });
const probe = (nonce: string) => ({ type: 'probe', nonce });

async function setup(options: TestServerOptions = {}, heartbeatMs = 10_000) {
  const clients = await serveClients({ heartbeatMs });
  const { openConnection, clock } = clients;
  let secrets = 0;
  const newSecret = () => `stream-${++secrets}`;
  const streams = createClientStreams({ openConnection, clock, newSecret });
  const server = await startTestServer({ ...options, deps: { streams } });
  const open = async (token: string = TOKEN) => {
    const stream = await openStream(server, token);
    onTestFinished(() => void stream.going.destroy());
    return stream;
  };
  return { ...clients, server, open };
}

test('[SE1] a stream begins with its id and the limits, and is not kept by caches or proxies', async () => {
  const { open } = await setup();
  const stream = await open();
  expect(stream.response.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  expect(stream.open()).toMatchObject({
    stream_id: 'stream-1',
    limits: { requestMessages: 1_000 },
  });
});

test('[SE1] a client that was on a socket comes back over a stream, and its call with it', async () => {
  const { open, calls, cut, connect } = await setup();
  const { inbox: received, send } = await connect<{ type: string; resume_token?: string }>();
  const hello = { type: 'hello', client_id: 'c', caps: ['claim'], journal_epoch: 'e' };
  send(hello);
  send({ type: 'register_tools', tools: [tool('echo')] });
  await expect.poll(() => received.length).toBe(2);
  const outcome = await calls.invoke({ principal, tool: 'echo', runId: 'r', args: {} });
  const id = outcome.ok ? outcome.call.id : outcome.message;
  await expect
    .poll(() => received.at(-1))
    .toMatchObject({ type: 'tool_call_request', id, attempt: 1 });
  cut();
  const stream = await open();
  const resume_token = received[0]?.resume_token;
  await stream.send(
    { ...hello, resume_token, known: [] },
    { type: 'register_tools', tools: [tool('echo')] },
  );
  await expect.poll(stream.last).toMatchObject({ type: 'tool_call_request', id, attempt: 2 });
  expect(stream.messages()[0]).toMatchObject({ type: 'welcome', client_id: 'c', resumed: true });
  await stream.send({ type: 'tool_call_claim', id, attempt: 2 });
  await expect.poll(stream.last).toMatchObject({ type: 'tool_call_granted', id });
  await stream.send({
    type: 'tool_result',
    id,
    attempt: 2,
    output: 'over a stream',
    success: true,
  });
  await expect
    .poll(stream.last)
    .toMatchObject({ type: 'result_acknowledged', disposition: 'accepted' });
  expect((await calls.get(id))?.result).toBe('over a stream');
});

test('[SE2] a stream takes nothing of another principal, and nothing once it has ended', async () => {
  const { open } = await setup();
  const stream = await open();
  const body = { seq: 1, messages: [probe('stolen')] };
  for (const token of [TOKENS.colleague, TOKENS.device]) {
    expect((await stream.post(body, token)).status).toBe(404);
  }
  expect((await stream.post(body, TOKEN, 'stream-9')).status).toBe(404);
  expect((await stream.post(body)).json).toEqual({ ok: true, seq: 1 });
  await expect.poll(stream.messages).toEqual([{ type: 'probe_ack', nonce: 'stolen' }]);
  stream.going.destroy();
  const status = async () => (await stream.send(probe('late'))).status;
  await expect.poll(status).toBe(404);
});

test('[SE3] a request that comes again is handled once, and one after a gap is refused', async () => {
  const { open } = await setup();
  const stream = await open();
  const first = { seq: 1, messages: [probe('a')] };
  expect((await stream.post(first)).status).toBe(200);
  expect((await stream.post(first)).json).toEqual({ ok: true, seq: 1 });
  const gap = await stream.post({ seq: 3, messages: [probe('c')] });
  expect([gap.status, gap.json.error.code]).toEqual([409, 'conflict']);
  await stream.post({ seq: 2, messages: [probe('b')] });
  await expect.poll(() => stream.messages().map(({ nonce }) => nonce)).toEqual(['a', 'b']);
});

test('[SE3] [SE5] while a request is handled it may come again, the next one may not come yet', async () => {
  const { open, server } = await setup();
  const stream = await open();
  const tools = Array.from({ length: 200 }, (_, at) => tool(`t${at}`));
  const body = { seq: 1, messages: [{ type: 'register_tools', tools }, probe('behind')] };
  const answered: string[] = [];
  const post = async (name: string, sent: unknown) => {
    const { status } = await stream.post(sent);
    answered.push(`${name} ${status}`);
  };
  const both = [post('first', body), post('again', body)];
  await post('next', { seq: 2, messages: [probe('next')] });
  await Promise.all(both);
  // However they came: the next one is either refused, or came when both were done.
  expect(['first 200', 'again 200'].every((one) => answered.includes(one))).toBe(true);
  await expect.poll(() => stream.messages().map(({ type }) => type)).toContain('tools_registered');
  expect(stream.messages().filter(({ nonce }) => nonce === 'behind')).toHaveLength(1);
  expect(server.logged).toEqual([]);
});

test('[SE4] a message that makes no sense takes no other with it', async () => {
  const { open } = await setup();
  const stream = await open();
  const deep = `${'['.repeat(80)}${']'.repeat(80)}`;
  const sent = ['{"type":"?","id":"x"}', 'oops', deep, '"text"', JSON.stringify(probe('a'))];
  expect((await stream.sendText(...sent)).status).toBe(200);
  await expect.poll(stream.last).toEqual({ type: 'probe_ack', nonce: 'a' });
  const errors = stream.messages().slice(0, -1);
  expect(errors.map(({ code }) => code)).toEqual(Array(4).fill('bad_message'));
  expect(errors[0]).toMatchObject({ id: 'x' });
});

test('[SE4] a body that is no batch is a 400, and counts for nothing', async () => {
  const { open } = await setup();
  const stream = await open();
  for (const body of [
    ...['', '{', '[]', '{}', '{"seq":1}', '{"seq":1,"messages":{}}', '{"seq":1,"messages":[[}'],
    ...['{"seq":0,"messages":[]}', '{"seq":"1","messages":[]}', '{"seq":1.5,"messages":[]}'],
    JSON.stringify({ seq: 1, messages: Array(1_001).fill(0) }),
  ]) {
    const answer = await stream.post(body);
    expect([answer.status, answer.json.error.code], body.slice(0, 50)).toEqual([
      400,
      'bad_request',
    ]);
  }
  expect((await stream.send(probe('a'))).status).toBe(200);
});

test('[SE6] a flood is closed with 1008, and what is too large with 1009', async () => {
  const { open } = await setup();
  const flooder = await open();
  const flood = Array.from({ length: 1_000 }, () => probe('x'));
  for (let sent = 0; sent < 50 && !flooder.close(); sent += 1) await flooder.send(...flood);
  await expect.poll(flooder.close).toMatchObject({ code: 1008 });
  await flooder.ended;
  const large = await open();
  const answer = await large.sendText(' '.repeat(LIMITS.frameBytes + 2_000));
  expect(answer.status).toBe(413);
  await expect.poll(large.close).toMatchObject({ code: 1009 });
});

test('[SE6] the same instance on a newer stream closes the older one with 4010', async () => {
  const { open } = await setup();
  const older = await open();
  const hello = { type: 'hello', client_id: 'c', instance_id: 'i' };
  await older.send(hello);
  await expect.poll(older.last).toMatchObject({ type: 'welcome' });
  const newer = await open();
  await newer.send({ ...hello, resume_token: older.last()?.resume_token });
  await expect.poll(newer.last).toMatchObject({ type: 'welcome', resumed: true });
  await older.ended;
  expect(older.close()).toMatchObject({ code: 4010 });
});

test('[SE6] the server that stops closes streams with 1012, also one that is not read', async () => {
  const { open, server, calls } = await setup();
  const [reading, stuck] = [await open(), await open()];
  await stuck.send({ type: 'register_tools', tools: [tool('scan')] });
  await expect.poll(stuck.last).toMatchObject({ type: 'tools_registered' });
  stuck.response.pause();
  const args = { text: 'x'.repeat(LIMITS.argsBytes - 1_000) };
  for (let call = 0; call < 40; call += 1) {
    await calls.invoke({ principal, tool: 'scan', runId: 'r', args, timeoutMs: 60_000 });
  }
  server.gate.close(1012, 'restarting');
  await reading.ended;
  expect(reading.close()).toEqual({ code: 1012, reason: 'restarting' });
  await expect.poll(() => server.gate.openCount, { timeout: 3_000 }).toBe(0);
  const refused = await server.get('/internal/stream');
  expect(refused.status).toBe(503);
});

test('[SE7] streams count among the sockets', async () => {
  const { open, server } = await setup({ maxSockets: { client: 2, watcher: 2 } });
  const [first] = [await open(), await open()];
  expect((await server.get('/internal/stream')).status).toBe(429);
  first.going.destroy();
  await expect.poll(() => server.gate.openCount).toBe(1);
  expect((await open()).open()).toBeDefined();
});

test('[SE7] a revoked token closes its stream within a second, and no other', async () => {
  const { open, server } = await setup();
  const made = await server.post('/v1/tokens', {
    name: 'lamp',
    kind: 'operator',
    role: 'operator',
  });
  expect(made.status).toBe(201);
  const [revoked, other] = [await open(made.json.secret), await open()];
  const since = performance.now();
  await server.ask('DELETE', `/v1/tokens/${made.json.id}`);
  await revoked.ended;
  expect(performance.now() - since).toBeLessThan(1_000);
  expect(revoked.close()).toMatchObject({ code: 4401 });
  expect(other.close()).toBeUndefined();
});

test('[SE8] a client that does not read is cut off, and one that reads gets all of it', async () => {
  const { open, calls } = await setup();
  const stream = await open();
  const bad = Array.from({ length: 64 }, () => ({ name: '!'.repeat(64) }));
  stream.response.pause();
  const statuses = new Set<number>();
  for (let sent = 0; sent < 60 && !statuses.has(404); sent += 1) {
    const messages = Array.from({ length: 40 }, () => ({ type: 'register_tools', tools: bad }));
    statuses.add((await stream.send(...messages)).status);
  }
  expect(statuses.has(404)).toBe(true);
  const reader = await open();
  await reader.send({ type: 'register_tools', tools: [tool('scan')] });
  const args = { text: 'x'.repeat(LIMITS.argsBytes - 1_000) };
  for (let call = 0; call < 40; call += 1) {
    await calls.invoke({ principal, tool: 'scan', runId: 'r', args, timeoutMs: 60_000 });
  }
  await expect.poll(() => reader.messages().length, { timeout: 10_000 }).toBe(41);
}, 30_000);

test('[SE8] a client without a sign of life is cut off, one with empty requests is not', async () => {
  const { open } = await setup({}, 100);
  const [silent, alive] = [await open(), await open()];
  let hasEnded = false;
  void silent.ended.then(() => {
    hasEnded = true;
  });
  while (!hasEnded) {
    await alive.send();
    await once(alive.response, 'data');
  }
  expect(alive.comments.length).toBeGreaterThan(2);
  expect((await alive.send(probe('still'))).status).toBe(200);
});
