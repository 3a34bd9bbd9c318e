import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { createSystemClock } from '../base/clock.ts';
import type { McpStream } from '../doors/mcp/agent-session.ts';
import { fakeMcp } from './testing/fake-services.ts';
import { startTestServer } from './testing/start-test-server.ts';

const EVENT_STREAM = { headers: { 'content-type': 'text/event-stream' } };

interface Source {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  isLeft: boolean;
}

/** A server whose answers by POST are streams that the test feeds, and whose streams by GET it has. */
async function setup({ room = 0, clock = createSystemClock() } = {}) {
  const sources: Source[] = [];
  const streams: (McpStream & { isLeft: boolean })[] = [];
  const { port, tokens } = await startTestServer({
    deps: {
      clock,
      mcp: {
        ...fakeMcp,
        answer: async ({ makeRoom }) => {
          if (room > 0) await makeRoom(room);
          return new Response(
            new ReadableStream<Uint8Array>({
              start: (controller) => void sources.push({ controller, isLeft: false }),
              cancel() {
                for (const source of sources) source.isLeft = true;
              },
            }),
            EVENT_STREAM,
          );
        },
        openStream(_agent, stream) {
          stream.send(': open\n\n');
          const opened = { ...stream, isLeft: false };
          streams.push(opened);
          return () => {
            opened.isLeft = true;
          };
        },
      },
    },
  });
  const made = await tokens.create({ kind: 'agent', name: 'reader', tools: [] }, 'operator');
  const ask = async (
    method: 'GET' | 'POST' | 'DELETE',
    body?: object,
    { accept = 'text/event-stream', path = '/mcp', headers = {} } = {},
  ): Promise<IncomingMessage> => {
    const asking = request({
      ...{ host: '127.0.0.1', port, path, method, agent: false },
      headers: {
        ...{ authorization: `Bearer ${made.secret}`, accept },
        'content-type': 'application/json',
        ...headers,
      },
    });
    onTestFinished(() => void asking.destroy());
    asking.on('error', () => {});
    asking.end(body && JSON.stringify(body));
    const [answer] = (await once(asking, 'response')) as [IncomingMessage];
    answer.on('error', () => {});
    return answer;
  };
  return { ask, sources, streams };
}

const LISTEN = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen' };
const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call' };

test('a streamed answer comes whole and in order, and warns of no leak', async () => {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error) => void warnings.push(name);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  const { ask, sources } = await setup();
  const answer = await ask('POST', CALL);
  const parts = Array.from({ length: 200 }, (_, at) => `${at} ${'x'.repeat(20_000)}\n`);
  for (const part of parts) sources[0]?.controller.enqueue(Buffer.from(part));
  sources[0]?.controller.close();
  let text = '';
  for await (const chunk of answer) text += String(chunk);
  expect(text).toBe(parts.join(''));
  expect(warnings).toEqual([]);
});

test('[MP60] who takes JSON alone is given the answer of a stream as JSON, at /mcp/ too', async () => {
  const { ask, sources } = await setup();
  const headers = { 'mcp-session-id': '' };
  const asked = ask('POST', CALL, { accept: 'application/json', path: '/mcp/', headers });
  await expect.poll(() => sources.length).toBe(1);
  const answer = JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} });
  const note = 'event: message\ndata: {"method":"notifications/progress"}\n\n';
  sources[0]?.controller.enqueue(Buffer.from(`${note}event: message\ndata: ${answer}\n\n`));
  sources[0]?.controller.close();
  const response = await asked;
  expect([response.statusCode, response.headers['content-type']]).toEqual([
    200,
    'application/json',
  ]);
  let text = '';
  for await (const chunk of response) text += String(chunk);
  expect(text).toBe(answer);
});

test('[MP22] who leaves a streamed answer ends its source', async () => {
  const { ask, sources } = await setup();
  const answer = await ask('POST', CALL);
  answer.destroy();
  await expect.poll(() => sources[0]?.isLeft).toBe(true);
});

test('[MP46] a token has 64 streams that last, by GET and by subscription, and no more', async () => {
  const { ask } = await setup();
  const open = await Promise.all(
    Array.from({ length: 64 }, (_, at) => (at % 2 ? ask('GET') : ask('POST', LISTEN))),
  );
  expect(new Set(open.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
  expect((await ask('POST', LISTEN)).statusCode).toBe(429);
  expect((await ask('GET')).statusCode).toBe(429);
  // What ends with its answer is no such stream.
  expect((await ask('POST', CALL)).statusCode).toBe(200);
  open[0]?.destroy();
  await expect.poll(async () => (await ask('GET')).statusCode).toBe(200);
});

test('[MP47] a large answer waits until another has been sent, also to a reader that does not read', async () => {
  const { ask, sources } = await setup({ room: 12 * 1024 * 1024 });
  const first = await ask('POST', CALL);
  const second = ask('POST', CALL);
  // Behind which the second has come in, too.
  expect((await ask('GET')).statusCode).toBe(200);
  expect(sources).toHaveLength(1);
  first.destroy();
  expect((await second).statusCode).toBe(200);
  expect(sources).toHaveLength(2);
});

test('[MP47] a batch of messages is refused', async () => {
  const { ask, sources } = await setup();
  expect((await ask('POST', [CALL, CALL])).statusCode).toBe(400);
  expect(sources).toEqual([]);
});

test('[MP15] who ends no session of its own is told to use POST', async () => {
  const { ask } = await setup();
  expect((await ask('DELETE')).statusCode).toBe(405);
});

test('[MP31] a stream that is not read is cut', async () => {
  const { ask, streams } = await setup();
  const answer = await ask('GET');
  answer.pause();
  const [stream] = streams;
  expect(stream?.isLeft).toBe(false);
  // The sockets of both ends take some megabytes before anything waits here.
  await expect
    .poll(() => {
      for (let sent = 0; sent < 200 && !stream?.isLeft; sent += 1) stream?.send('x'.repeat(8_000));
      return stream?.isLeft;
    })
    .toBe(true);
});
