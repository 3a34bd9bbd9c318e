import { createStreamSocket } from '../../net/stream-socket.ts';
import { randomId } from '../../util/random-id.ts';
import { schedule } from '../../util/schedule.ts';
import type { ClientEnvironment, ClientSocket } from '../environment.ts';
import { watchForSleep } from './watch-for-sleep.ts';

/** A `WebSocket` as browsers have it: Node's own, or that of the package `ws`. */
export type WebSocketConstructor = new (url: string, protocols: string[]) => ClientSocket;

/** All that a client needs of a Node program. */
export function createNodeEnvironment({
  WebSocket,
}: {
  WebSocket: WebSocketConstructor;
}): ClientEnvironment {
  const now = () => Date.now();
  return {
    openSocket: (url, protocols) => new WebSocket(url, [...protocols]),
    byRequests: {
      fetch,
      openStream: (url, protocols) => createStreamSocket(fetch, url, protocols),
    },
    now,
    schedule,
    random: () => Math.random(),
    newId: randomId,
    onWake: (listener) => watchForSleep({ now, schedule: scheduleAside }, listener),
  };
}

/** A timer that does not keep the program from ending. */
function scheduleAside(ms: number, fire: () => void): () => void {
  const timer = setTimeout(fire, ms).unref();
  return () => clearTimeout(timer);
}
