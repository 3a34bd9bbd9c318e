import { isRecord } from '../json/is-record.ts';
import { ReconnectingSocket, type SocketStatus } from '../net/reconnecting-socket.ts';
import type { ClientMessage } from '../protocol/client-messages.ts';
import { CLOSE } from '../protocol/close-codes.ts';
import type { ServerMessage, ServerMessageOf } from '../protocol/server-messages.ts';
import { PROTOCOL } from '../protocol/subprotocols.ts';
import type { RejectedTool } from '../protocol/tool-spec.ts';
import {
  anything,
  flag,
  type Guard,
  listOf,
  number,
  oneOf,
  optional,
  positiveInteger,
  REFUSED,
  recordOf,
  shape,
  text,
} from './guards/guard.ts';
import { type ClientEnvironment, createTransports, type Transport } from './transports.ts';

/** The state of a client's connection to its server, and what carries it. */
export type ClientStatus =
  | Exclude<SocketStatus, { readonly state: 'connected' }>
  | { readonly state: 'connected'; readonly transport: Transport };

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

/**
 * A frame as a message; undefined for what this client does not know (CL14). A test holds each
 * guard to its schema in `protocol/server-messages.ts`, which is too large for a page's first load.
 */
export function parseServerMessage(data: unknown): ServerMessage | undefined {
  if (typeof data !== 'string') return undefined;
  let json: unknown;
  try {
    json = JSON.parse(data);
  } catch {
    return undefined; // Not JSON: nothing that a later protocol would send either.
  }
  const message = isRecord(json) ? guards.get(json.type)?.(json) : undefined;
  return message === REFUSED ? undefined : message;
}

type Type = ServerMessage['type'];
/** The fields of a message beside its type, and beside what no client here reads. */
type Fields<T extends Type> = {
  readonly [Name in keyof Omit<ServerMessageOf<T>, 'type' | 'traceparent'>]-?: Guard<
    ServerMessageOf<T>[Name]
  >;
};

const rejected = shape<RejectedTool>({
  name: text,
  code: text,
  message: text,
  params: optional(recordOf(text)),
});

const FIELDS: { readonly [T in Type]: Fields<T> } = {
  welcome: {
    client_id: text,
    resume_token: text,
    resumed: flag,
    heartbeat_ms: number,
    limits: recordOf(number),
    forget: listOf(text),
    cancel: listOf(text),
    protocol: oneOf(PROTOCOL),
  },
  tools_registered: {
    count: number,
    registered: number,
    rejected: listOf(rejected),
    rejected_count: optional(positiveInteger),
    decided: optional(listOf(text)),
  },
  tool_call_request: {
    id: text,
    name: text,
    args: recordOf(anything),
    run_id: text,
    attempt: number,
    timeout_ms: number,
    requested_by: optional(text),
  },
  tool_call_granted: { id: text, attempt: number, remaining_ms: number },
  tool_call_refused: { id: text, attempt: number, reason: text },
  tool_call_cancel: { id: text, reason: text },
  result_acknowledged: { id: text, disposition: oneOf('accepted', 'duplicate', 'late') },
  result_rejected: {
    id: text,
    code: oneOf(
      'unknown_call',
      'not_your_call',
      'stale_attempt',
      'not_granted',
      'conflict',
      'result_invalid',
      'result_too_large',
    ),
    message: text,
    final: oneOf(true),
  },
  probe: { nonce: text },
  probe_ack: { nonce: text },
  error: { code: text, message: text, id: optional(text) },
};

const guards = new Map<unknown, Guard<ServerMessage>>(
  Object.entries(FIELDS).map(([type, fields]) => [
    type,
    // The table above pairs each type with its fields; `entries` forgets which belongs to which.
    shape<{ type: string }>({ type: oneOf(type), ...fields }) as Guard<ServerMessage>,
  ]),
);
