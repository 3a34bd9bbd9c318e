import { createServer, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import next from 'next';
import type { http } from './rooms.ts';

export interface Pages {
  readonly handle: http.PageHandler;
  /** Next's own socket for hot reload; development only. */
  readonly devUpgrade:
    | ((incoming: IncomingMessage, socket: Duplex, head: Buffer) => void)
    | undefined;
  close(): Promise<void>;
}

/**
 * Next, for pages only. It adds an `upgrade` listener of its own to the server
 * that it is given, and with a catch-all route would end our sockets; so it is
 * given one that never listens.
 */
export async function preparePages(options: {
  dir: string;
  development: boolean;
  hostname: string;
  port: number;
}): Promise<Pages> {
  const decoy = createServer();
  const app = next({
    dev: options.development,
    dir: options.dir,
    hostname: options.hostname,
    port: options.port,
    httpServer: decoy,
    quiet: true,
  });
  await app.prepare();
  const handler = app.getRequestHandler();
  return {
    handle: (incoming, outgoing) => handler(incoming, outgoing),
    devUpgrade: options.development
      ? (incoming, socket, head) => {
          if (!decoy.emit('upgrade', incoming, socket, head)) socket.destroy();
        }
      : undefined,
    close: () => app.close(),
  };
}
