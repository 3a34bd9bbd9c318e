import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { McpHttpHandler } from '@modelcontextprotocol/server';

/**
 * Serves a handler of the SDK by Node's HTTP, in a process that `startChild` started. It does no more
 * than the SDK's own adapter, `toNodeHandler`, which is a package of its own and costs about as much.
 */
export function serveMcp(handler: Pick<McpHttpHandler, 'fetch'>): void {
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
}
