import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { done } from './testing/fake-services.ts';
import { startTestServer, TOKENS } from './testing/start-test-server.ts';

const MIB = 1024 * 1024;
const READERS = 20;
const RESULT = `"é" ${'x'.repeat(8 * MIB - 100)}`;

/** A call of 8 MiB, and readers of it that have sent their request and read nothing yet. */
async function setup() {
  const server = await startTestServer();
  const { records } = server.calls.fake;
  records.set('tc_1', done({ result: RESULT }));
  const { get } = server.calls.service;
  let reads = 0;
  server.calls.service.get = async (id) => {
    reads += 1;
    return get(id);
  };
  const ask = async () => {
    const socket = connect(server.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.pause();
    await once(socket, 'connect');
    socket.write(
      `GET /v1/tool_calls/tc_1 HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n` +
        `Authorization: Bearer ${TOKENS.operator}\r\nConnection: close\r\n\r\n`,
    );
    return socket;
  };
  const readers = await Promise.all(Array.from({ length: READERS }, ask));
  return { server, readers, reads: () => reads };
}

async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test('[UN4] of 20 readers of a result of 8 MiB who read nothing two are served, and others are answered', async () => {
  const { server, readers, reads } = await setup();
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

test('[UN4] 20 who wait for the end of one call get its large result one after the other', async () => {
  const server = await startTestServer();
  server.calls.fake.records.set('tc_1', done({ status: 'RUNNING', result: undefined }));
  server.calls.fake.onWait = async () => done({ result: RESULT });
  const path = '/v1/tool_calls/tc_1?wait_ms=1000';
  const answers = await Promise.all(Array.from({ length: READERS }, () => server.get(path)));
  for (const { status, text } of answers) {
    expect(status).toBe(200);
    expect(text.length).toBeGreaterThan(RESULT.length);
  }
}, 60_000);
