import type { SocketStatus } from '../net/reconnecting-socket.ts';

/** The state of a client's connection to its server. */
export type ClientStatus = SocketStatus;
