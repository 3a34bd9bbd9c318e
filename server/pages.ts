import { existsSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { ConfigError } from './config-error.ts';
import type { PageHandler } from './http/page-server.ts';

export interface Pages {
  readonly handle: PageHandler;
  /** Next's own socket for hot reload; development only. */
  readonly devUpgrade:
    | ((incoming: IncomingMessage, socket: Duplex, head: Buffer) => void)
    | undefined;
  close(): Promise<void>;
}

interface PagesOptions {
  /** The project's folder, with `.next` in it. */
  readonly dir: string;
  readonly development: boolean;
  readonly hostname: string;
  readonly port: number;
}

/**
 * Next, for pages only. It is a third of what a start of the server takes, so it is loaded with
 * the first page that is asked for; in development at once, as it has a socket of its own. Throws
 * `ConfigError` where the pages are not built.
 */
export async function preparePages(options: PagesOptions): Promise<Pages> {
  if (options.development) return loadNext(options);
  if (!existsSync(join(options.dir, '.next', 'BUILD_ID'))) {
    throw new ConfigError('The pages are not built: run "npm run build".');
  }
  let loading: Promise<Pages> | undefined;
  const load = () => {
    loading ??= loadNext(options).catch((error: unknown) => {
      // The next request tries again.
      loading = undefined;
      throw error;
    });
    return loading;
  };
  return {
    handle: async (incoming, outgoing) => (await load()).handle(incoming, outgoing),
    devUpgrade: undefined,
    close: async () => (await loading)?.close(),
  };
}

/**
 * Next adds an `upgrade` listener of its own to the server that it is given, and with a catch-all
 * route would end our sockets; so it is given one that never listens.
 */
async function loadNext({ dir, development, hostname, port }: PagesOptions): Promise<Pages> {
  const { default: next } = await import('next');
  const decoy = createServer();
  const app = next({ dev: development, dir, hostname, port, httpServer: decoy, quiet: true });
  await app.prepare();
  const handler = app.getRequestHandler();
  return {
    handle: (incoming, outgoing) => handler(incoming, outgoing),
    devUpgrade: development
      ? (incoming, socket, head) => {
          if (!decoy.emit('upgrade', incoming, socket, head)) socket.destroy();
        }
      : undefined,
    close: () => app.close(),
  };
}
