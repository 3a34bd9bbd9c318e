import type { SocketStatus } from '../net/reconnecting-socket.ts';
import type { Transport } from './transports.ts';

/** The state of a client's connection to its server, and what carries it. */
export type ClientStatus =
  | Exclude<SocketStatus, { readonly state: 'connected' }>
  | { readonly state: 'connected'; readonly transport: Transport };
