import { setTimeout as sleep } from 'node:timers/promises';
import type { Exit, ServerProcess } from '../world/server-process.ts';

/** How the server ended, or undefined when it still lives after `ms`. */
export const awaitEnd = (server: ServerProcess, ms: number): Promise<Exit | undefined> =>
  Promise.race([server.ended, sleep(ms, undefined, { ref: false })]);
