import { setTimeout as sleep } from 'node:timers/promises';
import { type Exit, type ServerProcess, spawnServer } from '../../start-callboard.ts';

export type { Exit, ServerProcess };

/** On a port that is kept over restarts, so that clients find the server again. */
export const startServer = ({
  port,
  env,
  ...options
}: Parameters<typeof spawnServer>[0] & { readonly port: number }): ServerProcess =>
  spawnServer({ ...options, env: { CALLBOARD_PORT: String(port), ...env } });

/** How the server ended, or undefined when it still lives after `ms`. */
export const awaitEnd = (server: ServerProcess, ms: number): Promise<Exit | undefined> =>
  Promise.race([server.ended, sleep(ms, undefined, { ref: false })]);
