import { setTimeout as sleep } from 'node:timers/promises';
import { openSocket } from '../../contract/kit/socket.ts';
import type { Address } from '../../start-callboard.ts';

/** Between two attempts to reach the server. */
const RETRY_MS = 30;

export interface LastingSocket {
  /** What is said while there is no connection is lost. */
  send(message: object): void;
  stop(): void;
}

/** A socket that comes back whenever it was lost, also to a server that was started anew. */
export function openLastingSocket(
  server: Address,
  path: string,
  on: { message(value: unknown): void; open?(): object; lost?(): void },
): LastingSocket {
  let isStopped = false;
  let current: Awaited<ReturnType<typeof open>>;

  function open() {
    const take = (value: unknown) => {
      on.message(value);
      return [];
    };
    return openSocket(server, path, take).catch(() => undefined);
  }

  async function stay(): Promise<void> {
    while (!isStopped) {
      current = await open();
      if (isStopped) void current?.vanish();
      else if (current) {
        if (on.open) current.send(on.open());
        await current.closed;
        on.lost?.();
      }
      await sleep(RETRY_MS, undefined, { ref: false });
    }
  }

  void stay();
  return {
    send(message) {
      if (current?.ws.readyState === current?.ws.OPEN) current?.send(message);
    },
    stop() {
      isStopped = true;
      void current?.vanish();
    },
  };
}
