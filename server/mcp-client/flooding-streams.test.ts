import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { serveHttp } from '#lib/net/testing/serve-http';
import { boundedFetch } from './bounded-fetch.ts';
import { setupServers } from './testing/setup-servers.ts';

async function listen(onRequest: RequestListener): Promise<string> {
  const { origin, close } = await serveHttp(onRequest);
  onTestFinished(close);
  return `${origin}/mcp`;
}

const EVENT_STREAM = { 'content-type': 'text/event-stream' };
const event = (message: object): string =>
  `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;

test('[MC73] events of a stream are taken some at a time, with a turn for all else between', async () => {
  const sent = event({ method: 'notifications/progress' }).repeat(2_000);
  const url = await listen((_, outgoing) => void outgoing.writeHead(200, EVENT_STREAM).end(sent));
  const { body } = await boundedFetch(1_000_000)(url);
  let turn = 0;
  const count = () => {
    turn += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  onTestFinished(() => clearImmediate(counting));
  const turns: number[] = [];
  let came = '';
  for await (const piece of body ?? []) {
    came += Buffer.from(piece).toString();
    turns.push(turn);
    expect(piece.byteLength).toBeLessThan(4_096);
  }
  expect(came).toBe(sent);
  expect(new Set(turns).size).toBe(turns.length);
});

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string };
}

test('[MC74] a server that asks without an end is answered eight times while it takes no answer', async () => {
  const pings = Array.from({ length: 200 }, (_, id) => event({ id, method: 'ping' }));
  const changed = event({ method: 'notifications/tools/list_changed' });
  let [answers, lists] = [0, 0];
  const url = await listen((incoming, outgoing) => {
    const answer = async () => {
      if (incoming.method === 'GET') {
        return void outgoing.writeHead(200, EVENT_STREAM).write(pings.join('') + changed);
      }
      const message: Message = JSON.parse(await text(incoming));
      const { id, method, params } = message;
      // An answer, which is not taken.
      if (method === undefined) answers += 1;
      if (method === undefined) return;
      if (id === undefined) return void outgoing.writeHead(202).end();
      if (method === 'tools/list') lists += 1;
      const { protocolVersion = '' } = params ?? {};
      const of = { serverInfo: { name: 'asks', version: '1' }, protocolVersion };
      const result = { ...of, capabilities: { tools: { listChanged: true } }, tools: [] };
      const error = { code: -32_601, message: 'Method not found' };
      const body = method === 'server/discover' ? { error } : { result };
      outgoing.writeHead(200, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
    };
    answer().catch(() => outgoing.destroy());
  });
  const world = await setupServers({ servers: { asks: { url } } });
  await world.until('asks', { state: 'connected' });
  // What comes behind all that the server asked for.
  await expect.poll(() => lists, { timeout: 10_000 }).toBe(2);
  expect(answers).toBe(8);
}, 30_000);
