import { WebSocket } from 'ws';
import type { Address } from '../../start-callboard.ts';
import { createInbox, type Inbox } from './inbox.ts';

/** Far above what any answer takes, also on a machine under load. */
export const NEXT_MS = 8_000;

interface Typed {
  readonly type: string;
}

export interface Closed {
  readonly code: number;
  readonly reason: string;
}

export interface SocketOptions {
  /** The operator's by default; null for none. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly protocols?: readonly string[];
  /** How long a message is waited for. */
  readonly patienceMs?: number;
}

/** A connection whose messages were parsed by the protocol's own schemas, and wait until they are taken. */
export interface Line<M extends Typed> extends Omit<Inbox<M>, 'put'> {
  /** An object goes out as JSON, text and bytes as they are. */
  send(message: unknown): void;
  /** Reads nothing for now. */
  pause(): void;
  resume(): void;
  readonly closed: Promise<Closed>;
  close(): Promise<Closed>;
  /** No close frame, as a phone that lost its network. */
  vanish(): Promise<Closed>;
}

export interface Socket<M extends Typed> extends Line<M> {
  readonly ws: WebSocket;
}

/** The status with which an upgrade was refused. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly status: number;

  constructor(status: number) {
    super(`The upgrade was refused with ${status}`);
    this.status = status;
  }
}

export async function openSocket<M extends Typed>(
  board: Address,
  path: string,
  parse: (value: unknown) => readonly M[],
  { token = board.token, headers = {}, protocols = [], patienceMs = NEXT_MS }: SocketOptions = {},
): Promise<Socket<M>> {
  const ws = new WebSocket(board.url.replace('http', 'ws') + path, [...protocols], {
    headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
    maxPayload: 64 * 1024 * 1024,
  });
  const { put, ...inbox } = createInbox<M>(patienceMs);
  ws.on('message', (data) => put(parse(JSON.parse(String(data)))));
  const closed = new Promise<Closed>((resolve) => {
    ws.on('close', (code, reason) => {
      resolve({ code, reason: String(reason) });
    });
  });
  await opened(ws);

  return {
    ...inbox,
    ws,
    send(message) {
      const isRaw = typeof message === 'string' || Buffer.isBuffer(message);
      ws.send(isRaw ? message : JSON.stringify(message));
    },
    pause: () => ws.pause(),
    resume: () => ws.resume(),
    closed,
    close() {
      ws.close();
      return closed;
    },
    vanish() {
      ws.terminate();
      return closed;
    },
  };
}

function opened(ws: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    ws.once('open', () => {
      // A socket that the server ends by a reset is told by 'close' as well.
      ws.on('error', () => {});
      resolve();
    });
    ws.once('error', reject);
    ws.once('unexpected-response', (_request, response) => {
      response.resume();
      reject(new RefusedError(response.statusCode ?? 0));
    });
  });
}
