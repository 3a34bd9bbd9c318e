import { ReconnectingSocket } from '../net/reconnecting-socket.ts';
import type { ClientMessage } from '../protocol/client-messages.ts';
import { CLOSE } from '../protocol/close-codes.ts';
import type { ServerMessage } from '../protocol/server-messages.ts';
import type { ClientStatus } from './client-status.ts';
import type { ClientEnvironment } from './environment.ts';
import { parseServerMessage } from './parse-server-message.ts';
import { createTransports } from './transports.ts';

export interface ConnectionOptions {
  readonly url: string;
  readonly protocols: readonly string[];
  readonly environment: ClientEnvironment;
  readonly isRefused: (() => Promise<boolean>) | undefined;
  onOpen(): void;
  onMessage(message: ServerMessage): void;
  onDown(): void;
  /** Another page has this instance now; resolves when a new one is ready. */
  onSuperseded(): Promise<void>;
  onStatus(status: ClientStatus): void;
  readonly onProblem: (message: string) => void;
}

export type Connection = ReconnectingSocket<ServerMessage, ClientMessage>;

/** The client's socket, or the stream in its place; `ready` is called at the welcome (CL3). It contains no rule on calls or tools. */
export function createConnection(options: ConnectionOptions): Connection {
  const { onMessage, onSuperseded, onDown, onStatus, environment, ...rest } = options;
  const transports = createTransports(environment);
  const socket: Connection = new ReconnectingSocket({
    ...rest,
    environment: { ...environment, openSocket: transports.open },
    parse: parseServerMessage,
    ackNonce: (message) => (message.type === 'probe_ack' ? message.nonce : undefined),
    createProbe: (nonce) => ({ type: 'probe', nonce }),
    beforeRetry: (code) => (code === CLOSE.superseded ? onSuperseded() : undefined),
    onMessage(message) {
      if (message?.type === 'welcome') transports.welcomed();
      // At once, in the very event: a frozen page must not look alive (contract, section 5).
      if (message?.type === 'probe') socket.send({ type: 'probe_ack', nonce: message.nonce });
      else if (message) onMessage(message);
    },
    onDown() {
      transports.ended();
      onDown();
    },
    onStatus(status) {
      const { transport } = transports;
      onStatus(status.state === 'connected' ? { ...status, transport } : status);
    },
  });
  return socket;
}
