import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Bounds the connections without a request: those that have sent none yet, or not
 * all of its headers, and those that wait for the next one. Beyond `most` the one
 * that has been so for longest is closed, so that they leave room for newcomers
 * however many come, from whatever address: behind a proxy all have the same.
 */
export function boundUnusedConnections(server: Server, most: number): void {
  /** Those that became so first come first. */
  const unused = new Set<Socket>();
  /** By connection; a caller may send the next before it has the answer. */
  const requests = new WeakMap<Socket, number>();

  function count(socket: Socket, more: number): void {
    const open = (requests.get(socket) ?? 0) + more;
    requests.set(socket, open);
    if (open > 0 || socket.destroyed) return void unused.delete(socket);
    unused.add(socket);
    const [oldest] = unused;
    if (unused.size > most) oldest?.destroy();
  }

  server.on('connection', (socket) => {
    socket.once('close', () => unused.delete(socket));
    count(socket, 0);
  });
  server.on('request', ({ socket }, outgoing) => {
    count(socket, 1);
    outgoing.once('close', () => count(socket, -1));
  });
  // From then on it is counted among the sockets.
  server.on('upgrade', ({ socket }) => count(socket, 1));
}
