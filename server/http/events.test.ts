import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import type { WatchEvent } from '#lib/protocol/watch-messages';
import type { Clock } from '../base/clock.ts';
import { HEARTBEAT_MS } from './open-responses.ts';
import { startTestServer, type TestServer, TOKENS } from './testing/start-test-server.ts';

const call = (seq: number, run_id = 'run_a'): WatchEvent => ({
  type: 'call',
  seq,
  tool_call_id: 'tc_1',
  run_id,
  update: { status: 'DOING' },
});

const SNAPSHOT = { seq: 10, text: Buffer.from('{"type":"snapshot","seq":10}') };

test('[HT23] what happens while the snapshot is being made is not lost', async () => {
  const snapshot = Promise.withResolvers<typeof SNAPSHOT>();
  const server = await startTestServer({ deps: { snapshot: () => snapshot.promise } });
  const stream = await watch(server);
  for (const seq of [9, 10, 11]) server.bus.publish(call(seq));
  snapshot.resolve(SNAPSHOT);
  expect((await stream.next()).id).toBe(10);
  expect((await stream.next()).id).toBe(11);
});

test('[HT94] a token has 64 streams at most, and one that is closed makes room', async () => {
  const server = await startTestServer();
  const made = await server.tokens.create({ kind: 'operator', name: 'vic', role: 'viewer' }, 'x');
  const open = async (token = made.secret) => {
    const signal = new AbortController();
    const answer = await fetch(`http://127.0.0.1:${server.port}/v1/runs/run_a/events`, {
      headers: { authorization: `Bearer ${token}` },
      signal: signal.signal,
    });
    return { answer, close: () => signal.abort() };
  };
  const opened = [];
  for (let n = 0; n < 64; n += 1) opened.push(await open());
  expect(opened.every(({ answer }) => answer.status === 200)).toBe(true);
  const refused = (await open()).answer;
  expect(refused.status).toBe(429);
  expect(refused.headers.get('retry-after')).toBe('5');
  for (const token of [TOKENS.operator, TOKENS.colleague]) {
    expect((await open(token)).answer.status).toBe(200);
  }
  opened[0]?.close();
  await expect.poll(async () => (await open()).answer.status).toBe(200);
});

test('[HT33] when the server stops, a stream ends as a whole answer, also one that waits for its snapshot', async () => {
  const closing = new AbortController();
  const snapshot = Promise.withResolvers<typeof SNAPSHOT>();
  const server = await startTestServer({
    deps: { closing: closing.signal, snapshot: () => snapshot.promise },
  });
  for (const seq of [6, 7]) server.bus.publish(call(seq));
  const texts = await Promise.all(
    ['?since=6', ''].map((query) =>
      fetch(`http://127.0.0.1:${server.port}/v1/runs/run_a/events${query}`, {
        headers: { authorization: `Bearer ${TOKENS.operator}` },
      }),
    ),
  );
  closing.abort();
  snapshot.resolve(SNAPSHOT);
  expect(await texts[0]?.text()).toContain('id: 7');
  expect(await texts[1]?.text()).toBe('');
  const late = await watch(server);
  await new Promise((resolve) => late.response.once('close', resolve));
});

test('[HT24] a heartbeat keeps it open', async () => {
  const beats: (() => void)[] = [];
  const clock: Clock = {
    now: () => 0,
    schedule(ms, fire) {
      if (ms === HEARTBEAT_MS) beats.push(fire);
      return () => {};
    },
  };
  const server = await startTestServer({ deps: { clock } });
  const stream = await watch(server, { query: '?since=5' });
  for (const beat of [0, 1]) {
    beats[beat]?.();
    expect(await stream.line()).toBe(': still here');
  }
});

test('[HT25] a reader that leaves is let go', async () => {
  const server = await startTestServer();
  const stream = await watch(server);
  await stream.next();
  expect(server.bus.subscribers.size).toBe(1);
  stream.leave();
  await expect.poll(() => server.bus.subscribers.size).toBe(0);
});

test('[HT21] a stream of a sign-in ends with it, and those of others go on', async () => {
  const server = await startTestServer();
  const { cookie, key } = await server.sessions.signIn(null, false);
  const headers = {
    cookie: cookie.split(';')[0] ?? '',
    'x-callboard-session': key,
    origin: `http://127.0.0.1:${server.port}`,
  };
  const [own, other] = [await watch(server, { headers, token: null }), await watch(server)];
  await Promise.all([own.next(), other.next()]);
  const signedOut = await server.post('/auth/sign-out', {}, { token: null, headers });
  expect(signedOut.status).toBe(200);
  await expect(own.line()).rejects.toThrow('the stream ended');
  server.bus.publish(call(11));
  expect((await other.next()).id).toBe(11);
  expect(server.bus.subscribers.size).toBe(1);
});

interface WatchOptions {
  readonly query?: string;
  readonly headers?: Record<string, string>;
  readonly token?: string | null;
}

async function watch(
  { port }: TestServer,
  { query = '', headers, token = TOKENS.operator }: WatchOptions = {},
) {
  const path = `/v1/runs/run_a/events${query}`;
  const credential = token === null ? {} : { authorization: `Bearer ${token}` };
  const going = request({ host: '127.0.0.1', port, path, headers: { ...credential, ...headers } });
  going.on('error', () => {});
  going.end();
  const [response] = (await once(going, 'response')) as [IncomingMessage];
  response.on('error', () => {});
  const lines = createInterface({ input: response })[Symbol.asyncIterator]();
  const line = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done) throw new Error('the stream ended');
    return value === '' ? line() : value;
  };
  return {
    response,
    line,
    type: response.headers['content-type'],
    async next() {
      const id = Number((await line()).replace('id: ', ''));
      return { id, data: JSON.parse((await line()).replace('data: ', '')) };
    },
    leave: () => going.destroy(),
  };
}
