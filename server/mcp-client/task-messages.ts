import {
  CLIENT_CAPABILITIES_META_KEY,
  type Client,
  type JSONRPCMessage,
  type RequestOptions,
  type Transport,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { isRecord } from '#lib/json/is-record';
import { TASKS } from '#lib/protocol/mcp-tasks';
import { ToolError } from '../tools/room.ts';
import type { Handshake } from './mend-message.ts';

/**
 * The package refuses to send `tasks/*` in 2026-07-28, a result that is a task, and every result
 * that differs from its schema in one field. So methods pass under names of ours, and results
 * beside empty ones: what reads a result checks it, each part by itself.
 */
const OURS = 'callboard/';
const RESULT = 'callboard/result';

/** Before the connection is made. `handshake` has what is asked before there is one. */
export function passAround(transport: Transport, handshake: Handshake): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    const sent = asSent(message);
    if ('id' in sent && 'method' in sent && sent.id !== undefined && isHandshake(sent.method)) {
      handshake.add(sent.id);
    }
    return send(sent, options);
  };
  // The package calls it with each message before it looks at the message itself.
  transport.onmessage = (message) => {
    if (!('result' in message) || handshake.delete(message.id)) return;
    message.result = { ...EMPTY, _meta: { [RESULT]: message.result } };
  };
}

const isHandshake = (method: string): boolean =>
  method === 'initialize' || method === 'server/discover';

/** It is taken as the result of any method. */
const EMPTY = {
  resultType: 'complete',
  content: [],
  tools: [],
  ttlMs: 0,
  cacheScope: 'private',
};

/** The result as the server sent it. */
export const resultOf = ({ _meta }: { readonly _meta?: unknown }): unknown =>
  isRecord(_meta) ? _meta[RESULT] : undefined;

const emptySchema = z.object({ _meta: z.unknown() });

/** Asks for what the package has no method of its own for. */
export const ask = async (
  client: Client,
  request: { readonly method: string; readonly params: Record<string, unknown> },
  options: RequestOptions,
): Promise<unknown> => resultOf(await client.request(request, emptySchema, options));

const asSent = (message: JSONRPCMessage): JSONRPCMessage =>
  'method' in message && message.method.startsWith(`${OURS}tasks/`)
    ? { ...message, method: message.method.slice(OURS.length) }
    : message;

/** Goes along with each request that may be answered with a task, or is about one. */
export const TAKES_TASKS = { [CLIENT_CAPABILITIES_META_KEY]: { extensions: { [TASKS]: {} } } };

export const taskRequest = (method: 'tasks/get' | 'tasks/cancel', taskId: string) => ({
  method: `${OURS}${method}`,
  params: { taskId, _meta: TAKES_TASKS },
});

const LONGEST_ID = 1_024;

const shared = {
  statusMessage: z.string().optional().catch(undefined),
  pollIntervalMs: z.number().optional().catch(undefined),
};

const createdSchema = z.object({ taskId: z.string().min(1).max(LONGEST_ID), ...shared });
export type CreatedTask = z.output<typeof createdSchema>;

/** `tasks/get` answers so. Whoever reads the result checks what it is. */
export const taskSchema = z.object({
  status: z.enum(['working', 'input_required', 'completed', 'failed', 'cancelled']),
  ...shared,
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional().catch(undefined),
});
export type Task = z.output<typeof taskSchema>;

/** The task that a call was answered with; undefined for a result. */
export function taskOf(result: unknown): CreatedTask | undefined {
  if (!isRecord(result) || result.resultType !== 'task') return undefined;
  const checked = createdSchema.safeParse(result);
  if (checked.success) return checked.data;
  const message = 'The server answered with a task that has no id, and cannot be asked for.';
  throw new ToolError(message, { executed: 'unknown', code: 'result_invalid' });
}
