import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Principal } from '../auth/room.ts';
import type { InboundSocket } from '../sockets/room.ts';
import type { ClientConnections } from './client-connection.ts';

interface OpenSocket {
  readonly principal: Principal;
  readonly stream: Duplex;
  readonly inbound: InboundSocket;
}

/** A client's messages as frames of a WebSocket. */
export const createClientSocketHandler =
  (connections: ClientConnections) =>
  (socket: WebSocket, { principal, stream, inbound }: OpenSocket): void => {
    const connection = connections.open({ principal, line: socket, corked: stream, inbound });
    socket.on('message', (data, isBinary) => {
      if (isBinary) connection.receiveBinary();
      // One buffer: `binaryType` is `nodebuffer`.
      else if (Buffer.isBuffer(data)) connection.receive(data);
    });
    socket.on('close', () => connection.closed());
  };
