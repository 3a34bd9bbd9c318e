import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { retryWhileTaken } from '../base/retry-while-taken.ts';
import { ConfigError } from './config.ts';

const WITHOUT_IPV6 = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL']);

/** Listens, and returns the port; throws `ConfigError` with what to do when it cannot. */
export async function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<number> {
  const listenOn = (address: string) =>
    retryWhileTaken(
      async () => {
        server.listen(port, address);
        await once(server, 'listening');
      },
      (error) => codeOf(error) === 'EADDRINUSE',
    );
  try {
    await listenOn(host).catch((error: unknown) => {
      // A machine without IPv6 has no "::", which is all addresses elsewhere.
      if (host !== '::' || !WITHOUT_IPV6.has(codeOf(error))) throw error;
      return listenOn('0.0.0.0');
    });
  } catch (error) {
    throw new ConfigError(`The address ${host}:${port} ${explain(codeOf(error))}`);
  }
  return (server.address() as AddressInfo).port;
}

const explain = (code: string): string =>
  code === 'EADDRINUSE'
    ? 'is in use by another program; set CALLBOARD_PORT to a free one, or to 0 for any'
    : `cannot be listened on (${code}); CALLBOARD_HOST may be an address of this machine`;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);
