/** The baseline: the SDK's own server with one tool that gives back its arguments; nothing is kept. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';

const handler = createMcpHandler(() => {
  const server = new Server({ name: 'echo', version: '1' }, { capabilities: { tools: {} } });
  const tool = { name: 'echo', description: 'Echoes', inputSchema: { type: 'object' as const } };
  server.setRequestHandler('tools/list', () => ({ tools: [tool] }));
  server.setRequestHandler('tools/call', ({ params }) => ({
    content: [{ type: 'text', text: JSON.stringify(params.arguments) }],
  }));
  return server;
});

const server = createServer(async (incoming, outgoing) => {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (typeof value === 'string') headers.set(name, value);
  }
  const body = await buffer(incoming);
  const request = new Request('http://echo/mcp', { method: 'POST', headers, body });
  const response = await handler.fetch(request);
  const text = await response.text();
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(text);
});
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('SIGTERM', () => process.exit(0));
