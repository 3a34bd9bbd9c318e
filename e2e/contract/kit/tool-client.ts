import type { WebSocket } from 'ws';
import {
  type ServerMessage,
  type ServerMessageOf,
  serverMessageSchema,
} from '../../../lib/protocol/server-messages.ts';
import type { Address } from '../../start-callboard.ts';
import { type Line, openSocket, type Socket, type SocketOptions } from './socket.ts';
import { openStream } from './stream.ts';

export interface Spec {
  readonly name: string;
  readonly description: string;
  readonly parameters: object;
  readonly timeout_ms?: number;
  readonly annotations?: object;
}

/** A tool that takes any arguments. */
export const spec = (name: string, more: Partial<Spec> = {}): Spec => ({
  name,
  description: `The tool ${name}`,
  parameters: { type: 'object' },
  ...more,
});

/** One that has no effects, so that a program's call of it needs no yes of a person. */
export const reader = (name: string, more: Partial<Spec> = {}): Spec =>
  spec(name, { annotations: { readOnlyHint: true }, ...more });

export type Transport = 'socket' | 'stream';

export interface ClientOptions extends SocketOptions {
  /** By default a socket. */
  readonly transport?: Transport;
  /** Said first, when given. */
  readonly hello?: object;
  readonly tools?: readonly (string | Spec)[];
}

export interface ToolClient extends Socket<ServerMessage> {
  /** The answer to the hello; reading it throws when none was said. */
  readonly welcome: ServerMessageOf<'welcome'>;
  register(...tools: readonly (string | Spec)[]): Promise<ServerMessageOf<'tools_registered'>>;
  request(): Promise<ServerMessageOf<'tool_call_request'>>;
  succeed(id: string, output: unknown, more?: object): void;
  fail(id: string, error: string, more?: object): void;
  /** Claims what it was asked, and waits for the grant. */
  claim(request: { id: string; attempt: number }): Promise<ServerMessageOf<'tool_call_granted'>>;
  /**
   * Resolves once the server has handled all that was sent before: it answers
   * in order. What has not come by then, does not come.
   */
  settled(): Promise<void>;
}

/** Connects as a program of its own would. */
export async function connectClient(
  board: Address,
  { hello, tools = [], transport = 'socket', ...options }: ClientOptions = {},
): Promise<ToolClient> {
  const parse = (value: unknown) => [serverMessageSchema.parse(value)];
  const { ws, ...socket }: Line<ServerMessage> & { readonly ws?: WebSocket } =
    transport === 'stream'
      ? await openStream(board, parse, options)
      : await openSocket(board, '/ws/client', parse, options);
  let welcome: ServerMessageOf<'welcome'> | undefined;
  let probes = 0;
  const client: ToolClient = {
    ...socket,
    get ws() {
      if (!ws) throw new Error('This client has a stream, and no socket');
      return ws;
    },
    get welcome() {
      if (!welcome) throw new Error('This client said no hello');
      return welcome;
    },
    register(...more) {
      const specs = more.map((one) => (typeof one === 'string' ? spec(one) : one));
      socket.send({ type: 'register_tools', tools: specs });
      return socket.next('tools_registered');
    },
    request: () => socket.next('tool_call_request'),
    succeed: (id, output, more = {}) =>
      socket.send({ type: 'tool_result', id, output, success: true, ...more }),
    fail: (id, error, more = {}) =>
      socket.send({ type: 'tool_error', id, error, success: false, ...more }),
    claim({ id, attempt }) {
      socket.send({ type: 'tool_call_claim', id, attempt });
      return socket.next('tool_call_granted');
    },
    async settled() {
      probes += 1;
      const nonce = `settled-${probes}`;
      socket.send({ type: 'probe', nonce });
      await socket.next('probe_ack', (ack) => ack.nonce === nonce);
    },
  };
  if (hello) {
    socket.send({ type: 'hello', ...hello });
    welcome = await socket.next('welcome');
  }
  if (tools.length > 0) await client.register(...tools);
  return client;
}
