import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { sampleEvent } from '#lib/call/testing/sample-call';
import { done } from './testing/fake-services.ts';
import { startTestServer, TOKENS } from './testing/start-test-server.ts';

const MIB = 1024 * 1024;
const READERS = 10;
const RESULT = `"é" ${'x'.repeat(8 * MIB - 100)}`;

/** A call of 8 MiB, and readers that send a request and read nothing yet. */
async function setup() {
  const server = await startTestServer();
  const { records } = server.calls.fake;
  records.set('tc_1', done({ result: RESULT }));
  const { get, list } = server.calls.service;
  let reads = 0;
  server.calls.service.list = async (query) => {
    reads += 1;
    return list(query);
  };
  server.calls.service.events = async () => [sampleEvent({ update: { result: RESULT } })];
  server.calls.service.get = async (id) => {
    reads += 1;
    return get(id);
  };
  const askAll = (path: string) =>
    Promise.all(Array.from({ length: READERS }, () => openUnread(server, path)));
  return { server, askAll, reads: () => reads };
}

async function openUnread(
  { port }: { port: number },
  path: string,
  body?: object,
): Promise<Socket> {
  const json = body ? JSON.stringify(body) : '';
  const head = body
    ? `POST ${path} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: ${json.length}\r\n`
    : `GET ${path} HTTP/1.1\r\n`;
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.pause();
  await once(socket, 'connect');
  socket.write(
    `${head}Host: 127.0.0.1:${port}\r\n` +
      `Authorization: Bearer ${TOKENS.operator}\r\nConnection: close\r\n\r\n${json}`,
  );
  return socket;
}

async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test('[UN4] of ten readers of a result of 8 MiB who read nothing two are served, and others are answered', async () => {
  const { server, askAll, reads } = await setup();
  const readers = await askAll('/v1/tool_calls/tc_1');
  await expect.poll(reads).toBeGreaterThan(0);
  // Behind all of them: a record that is small is answered at once.
  server.calls.fake.records.set('tc_small', done({ id: 'tc_small' }));
  expect((await server.get('/v1/tool_calls/tc_small')).status).toBe(200);
  expect((await server.get('/v1/tool_calls/tc_small')).status).toBe(200);
  expect(reads() - 2).toBeLessThanOrEqual(2);
  const texts = await Promise.all(readers.map(readAll));
  for (const text of texts) {
    const body = text.slice(text.indexOf('\r\n\r\n') + 4);
    expect(JSON.parse(body).result === RESULT).toBe(true);
    expect(text).toContain(`content-length: ${Buffer.byteLength(body)}`);
  }
  expect(reads() - 2).toBe(READERS);
}, 60_000);

test('[UN4] of ten readers of a large record that is in memory few have it as text', async () => {
  const server = await startTestServer();
  server.calls.fake.records.set('tc_1', done({ result: RESULT }));
  server.calls.service.storedBytes = async () => 0;
  const before = process.memoryUsage().arrayBuffers;
  const path = '/v1/tool_calls/tc_1';
  const readers = await Promise.all(
    Array.from({ length: READERS }, () => openUnread(server, path)),
  );
  for (let time = 0; time < READERS; time += 1) await server.get('/v1/tool_calls/tc_none');
  expect((process.memoryUsage().arrayBuffers - before) / MIB).toBeLessThan(5 * 8);
  for (const text of await Promise.all(readers.map(readAll))) expect(text).toContain('200 OK');
}, 60_000);

test.each([
  ['/v1/tool_calls/tc_1/events', 2],
  ['/v1/tool_calls?include=result', 2],
])(
  '[UN4] of ten readers of %s who read nothing %i are served',
  async (path, most) => {
    const { server, askAll, reads } = await setup();
    const readers = await askAll(path);
    await expect.poll(reads).toBeGreaterThan(0);
    expect((await server.get('/v1/tools')).status).toBe(200);
    expect(reads()).toBeLessThanOrEqual(most);
    for (const text of await Promise.all(readers.map(readAll))) expect(text).toContain('200 OK');
    expect(reads()).toBe(READERS);
  },
  60_000,
);

test('[OA20] of ten programs that read nothing two have their large answer as text', async () => {
  let texts = 0;
  class Completion {
    readonly content = RESULT;
    toJSON() {
      texts += 1;
      return { content: this.content };
    }
  }
  const openAi = {
    chat: async () => ({ ok: true as const, json: new Completion() }),
    respond: async () => ({ ok: true as const, json: {} }),
  };
  const server = await startTestServer({ deps: { openAi } });
  const messages = [{ role: 'user', content: 'x' }];
  const asked = Array.from({ length: READERS }, () =>
    openUnread(server, '/v1/chat/completions', { model: 'callboard', messages }),
  );
  const readers = await Promise.all(asked);
  await expect.poll(() => texts).toBe(2);
  for (let time = 0; time < READERS; time += 1) await server.get('/v1/tool_calls/tc_none');
  expect(texts).toBe(2);
  for (const text of await Promise.all(readers.map(readAll))) expect(text).toContain('200 OK');
}, 60_000);
