import type { Socket, SocketEnvironment } from '../net/environment.ts';

/** The part of a `WebSocket` that a client uses. */
export type ClientSocket = Socket;

/** What a client needs of the program or page that it runs in. */
export type ClientEnvironment = SocketEnvironment;
