/**
 * The baseline: POST → one message to a WebSocket client → its answer → the
 * HTTP answer. No record, no checks, no ids but a number; as little as it takes.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

const waiting = new Map<number, ServerResponse>();
let client: WebSocket | undefined;
let next = 0;

const server = createServer((incoming, outgoing) => {
  let body = '';
  incoming.on('data', (chunk) => {
    body += chunk;
  });
  incoming.on('end', () => {
    const { args } = JSON.parse(body);
    next += 1;
    waiting.set(next, outgoing);
    client?.send(JSON.stringify({ type: 'tool_call_request', id: next, name: 'echo', args }));
  });
});
const wss = new WebSocketServer({ server, perMessageDeflate: false });
wss.on('connection', (socket) => {
  client = socket;
  socket.on('message', (data) => {
    const message = JSON.parse(String(data));
    if (message.type !== 'tool_result') return;
    const outgoing = waiting.get(message.id);
    waiting.delete(message.id);
    const text = JSON.stringify({ id: message.id, result: message.output });
    outgoing?.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length });
    outgoing?.end(text);
  });
});
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('SIGTERM', () => process.exit(0));
