import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { createServer, type SecureContextOptions } from 'node:tls';

export interface AcceptLimits {
  /** Until a connection has sent its first byte. */
  readonly firstByteMs: number;
  /** Until its handshake is done, from the first byte on. */
  readonly handshakeMs: number;
  /** Connections that have not come that far; beyond it the oldest is closed. */
  readonly maxPending: number;
}

const LIMITS: AcceptLimits = { firstByteMs: 5_000, handshakeMs: 10_000, maxPending: 256 };

/** The content type of a TLS record that holds a handshake; no method of HTTP begins with it. */
const HANDSHAKE = 0x16;

/**
 * Lets a server of plain HTTP take TLS at the same port: the first byte of a
 * connection shows which it is. Connections that send no first byte, or no
 * handshake, are few and short-lived, and the newest is never kept out by them.
 * Returns what changes the certificate, for connections from then on.
 */
export function acceptTls(
  server: Server,
  context: SecureContextOptions,
  limits: Partial<AcceptLimits> = {},
): (context: SecureContextOptions) => void {
  const { firstByteMs, handshakeMs, maxPending } = { ...LIMITS, ...limits };
  // The listeners of HTTP, and what counts connections, get what is plain by then.
  const handlers = server.listeners('connection');
  server.removeAllListeners('connection');
  const deliver = (socket: Socket) => {
    for (const handle of handlers) handle.call(server, socket);
  };
  const pending = createPending(maxPending);
  const tls = createServer({
    ...context,
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: handshakeMs,
  });
  tls.on('secureConnection', (socket) => {
    pending.end(socket);
    deliver(socket);
  });
  tls.on('tlsClientError', (_error, socket) => socket.destroy());

  server.on('connection', (socket: Socket) => {
    pending.begin(socket);
    const ignore = () => {};
    const hangUp = () => socket.destroy();
    const timer = setTimeout(hangUp, firstByteMs);
    socket.on('error', ignore);
    socket.once('end', hangUp);
    socket.once('close', () => clearTimeout(timer));
    socket.once('data', (chunk: Buffer) => {
      clearTimeout(timer);
      socket.off('end', hangUp);
      socket.pause();
      socket.unshift(chunk);
      if (chunk[0] === HANDSHAKE) return void tls.emit('connection', socket);
      pending.end(socket);
      deliver(socket);
      socket.off('error', ignore);
      socket.resume();
    });
  });
  return (next) => tls.setSecureContext({ ...next, minVersion: 'TLSv1.2' });
}

/** Connections whose first byte or handshake is still to come, oldest first. */
function createPending(most: number) {
  const all = new Map<string, Socket>();
  /** A socket of TLS does not name the one below it; both name the peer. */
  const keyOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;
  return {
    begin(socket: Socket) {
      const key = keyOf(socket);
      all.set(key, socket);
      socket.once('close', () => {
        if (all.get(key) === socket) all.delete(key);
      });
      const [oldest] = all.values();
      if (all.size > most) oldest?.destroy();
    },
    end: (socket: Socket) => void all.delete(keyOf(socket)),
  };
}
