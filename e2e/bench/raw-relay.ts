/**
 * The baseline: POST → one message to a WebSocket client → its answer → the
 * HTTP answer. No record, no checks, no ids but a number; as little as it takes. The path says
 * how often it waits for the disk: `/1` before the answer, `/2` before the message too.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { createBarrier } from './barrier.ts';

const barrier = createBarrier();
const waiting = new Map<number, { outgoing: ServerResponse; barriers: number }>();
let client: WebSocket | undefined;
let next = 0;

const server = createServer((incoming, outgoing) => {
  let body = '';
  incoming.on('data', (chunk) => {
    body += chunk;
  });
  incoming.on('end', async () => {
    const { args } = JSON.parse(body);
    const barriers = Number(incoming.url?.slice(1));
    if (barriers > 1) await barrier.durable();
    next += 1;
    waiting.set(next, { outgoing, barriers });
    client?.send(JSON.stringify({ type: 'tool_call_request', id: next, name: 'echo', args }));
  });
});
const wss = new WebSocketServer({ server, perMessageDeflate: false });
wss.on('connection', (socket) => {
  client = socket;
  socket.on('message', async (data) => {
    const message = JSON.parse(String(data));
    if (message.type !== 'tool_result') return;
    const call = waiting.get(message.id);
    waiting.delete(message.id);
    if (!call) return;
    if (call.barriers > 0) await barrier.durable();
    const { outgoing } = call;
    const text = JSON.stringify({ id: message.id, result: message.output });
    outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length });
    outgoing.end(text);
  });
});
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('SIGTERM', () => {
  barrier.remove();
  process.exit(0);
});
