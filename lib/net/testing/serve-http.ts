import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server of a test on a free port of this machine. `close` ends it with all that is connected. */
export async function serveHttp(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    ...{ server, port, origin: `http://127.0.0.1:${port}` },
    async close(): Promise<void> {
      if (!server.listening) return;
      const closed = once(server.close(), 'close');
      server.closeAllConnections();
      await closed;
    },
  };
}
