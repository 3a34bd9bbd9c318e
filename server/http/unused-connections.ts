import type { EventEmitter } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { whenClosed } from './open-responses.ts';

const ADMIT = Symbol('admit');

interface Exchange extends EventEmitter {
  [ADMIT]?: () => void;
}

/** The share of all connections; the others are for those whose handshake of TLS is still to come. */
const USABLE = 0.95;

/** Notes that the caller of a response, or of a socket that is to be upgraded, has shown a credential. */
export const admit = (exchange: Exchange): void => exchange[ADMIT]?.();

/**
 * Bounds the connections that no caller with a credential uses now: those that have
 * sent no request yet, or not all of its headers, those whose request has shown no
 * credential, and those that wait for the next one. Beyond `most`, or where others
 * use the rest, the one that has been silent for longest is closed, so that they leave
 * room for newcomers however many come, also from one address: a proxy has one for all.
 */
export function boundUnusedConnections(server: Server, most: number): void {
  /** The connections that said nothing for longest come first. */
  const unused = new Set<Socket>();
  /** Each has its number of requests with a credential: a caller may send the next before it has the answer. */
  const used = new Map<Socket, number>();

  function count(socket: Socket, more: number): void {
    const open = (used.get(socket) ?? 0) + more;
    unused.delete(socket);
    used.delete(socket);
    if (socket.destroyed) return;
    if (open > 0) used.set(socket, open);
    else unused.add(socket);
    const room = Math.max(1, server.maxConnections * USABLE - used.size);
    const [oldest] = unused;
    if (!oldest || unused.size <= Math.min(most, room)) return;
    unused.delete(oldest); // Its 'close' comes later than the next connections.
    oldest.destroy();
  }

  server.on('connection', (socket) => {
    socket.once('close', () => count(socket, 0));
    count(socket, 0);
  });
  // Before those who answer.
  server.prependListener('request', ({ socket }, outgoing: ServerResponse & Exchange) => {
    let shown = 0;
    count(socket, 0);
    outgoing[ADMIT] = () => {
      if (shown === 0) count(socket, 1);
      shown = 1;
    };
    whenClosed(outgoing, () => count(socket, -shown));
  });
  // From then on it is counted among the sockets.
  server.prependListener('upgrade', ({ socket }: { socket: Socket & Exchange }) => {
    socket[ADMIT] = () => count(socket, 1);
  });
}
