import { WebSocket } from 'ws';
import type { Callboard } from '../../start-callboard.ts';

/** Far above what any answer takes, also on a machine under load. */
const NEXT_MS = 8_000;

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

/** A socket whose messages were parsed by the protocol's own schemas, and wait until they are taken. */
export interface Socket<M extends Typed> {
  readonly ws: WebSocket;
  /** All that ever came, in order. */
  readonly inbox: readonly M[];
  /** An object goes out as JSON, text and bytes as they are. */
  send(message: unknown): void;
  /** The next message of this type that nobody has taken; those of other types stay. */
  next<T extends M['type']>(
    type: T,
    fits?: (message: Extract<M, { type: T }>) => boolean,
  ): Promise<Extract<M, { type: T }>>;
  all<T extends M['type']>(type: T): Extract<M, { type: T }>[];
  readonly closed: Promise<Closed>;
  close(): Promise<Closed>;
  /** No close frame, as a phone that lost its network. */
  vanish(): Promise<Closed>;
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
  board: Callboard,
  path: string,
  parse: (value: unknown) => readonly M[],
  { token = board.token, headers = {}, protocols = [], patienceMs = NEXT_MS }: SocketOptions = {},
): Promise<Socket<M>> {
  const ws = new WebSocket(board.url.replace('http', 'ws') + path, [...protocols], {
    headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
    maxPayload: 64 * 1024 * 1024,
  });
  const inbox: M[] = [];
  const taken = new Set<M>();
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of [...listeners]) listener();
  };
  ws.on('message', (data) => {
    inbox.push(...parse(JSON.parse(String(data))));
    tell();
  });
  const closed = new Promise<Closed>((resolve) => {
    ws.on('close', (code, reason) => {
      resolve({ code, reason: String(reason) });
      tell();
    });
  });
  await opened(ws);

  function next<T extends M['type']>(
    type: T,
    fits: (message: Extract<M, { type: T }>) => boolean = () => true,
  ) {
    const isWanted = (message: M): message is Extract<M, { type: T }> =>
      message.type === type && fits(message as Extract<M, { type: T }>);
    return new Promise<Extract<M, { type: T }>>((resolve, reject) => {
      const stop = () => {
        clearTimeout(tooLate);
        listeners.delete(look);
      };
      const look = () => {
        const found = inbox.filter(isWanted).find((message) => !taken.has(message));
        if (!found) return;
        stop();
        taken.add(found);
        resolve(found);
      };
      const tooLate = setTimeout(() => {
        stop();
        const had = inbox.map((message) => message.type).slice(-30);
        reject(new Error(`No "${type}" came in ${patienceMs} ms; there were: ${had.join(', ')}`));
      }, patienceMs);
      listeners.add(look);
      look();
    });
  }

  return {
    ws,
    inbox,
    send(message) {
      const isRaw = typeof message === 'string' || Buffer.isBuffer(message);
      ws.send(isRaw ? message : JSON.stringify(message));
    },
    next,
    all: <T extends M['type']>(type: T) =>
      inbox.filter((message): message is Extract<M, { type: T }> => message.type === type),
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
