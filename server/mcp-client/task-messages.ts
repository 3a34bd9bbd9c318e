import {
  CLIENT_CAPABILITIES_META_KEY,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { isRecord } from '#lib/json/is-record';
import { TASKS } from '#lib/protocol/mcp-tasks';
import { ToolError } from '../tools/define-tool.ts';

/**
 * The package refuses to send `tasks/*` in 2026-07-28, and a result that is a task. Both pass as
 * something else: a method of ours, and an empty result with the task beside it.
 */
const OURS = 'callboard/';
const TASK = 'callboard/task';

/** Before the connection is made. */
export function sendTaskMethods(transport: Transport): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => send(asSent(message), options);
}

/** Once it is made: until then what comes is for nothing else. */
export function takeTaskResults(transport: Transport): void {
  const take = transport.onmessage;
  transport.onmessage = (message, extra) => take?.(asTaken(message), extra);
}

const asSent = (message: JSONRPCMessage): JSONRPCMessage =>
  'method' in message && message.method.startsWith(`${OURS}tasks/`)
    ? { ...message, method: message.method.slice(OURS.length) }
    : message;

function asTaken(message: JSONRPCMessage): JSONRPCMessage {
  if (!('result' in message) || message.result.resultType !== 'task') return message;
  const { jsonrpc, id, result } = message;
  const _meta = { [TASK]: result };
  return { jsonrpc, id, result: { resultType: 'complete', content: [], _meta } };
}

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

/** As `tasks/get` answers. What the result is, is for those to check who read it. */
export const taskSchema = z.object({
  status: z.enum(['working', 'input_required', 'completed', 'failed', 'cancelled']),
  ...shared,
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional().catch(undefined),
});
export type Task = z.output<typeof taskSchema>;

/** The task that a call was answered with; undefined for a result. */
export function taskOf({ _meta }: { readonly _meta?: unknown }): CreatedTask | undefined {
  const task = isRecord(_meta) ? _meta[TASK] : undefined;
  if (task === undefined) return undefined;
  const checked = createdSchema.safeParse(task);
  if (checked.success) return checked.data;
  const problem = z.prettifyError(checked.error).slice(0, 500);
  const message = `The server answered with a task that cannot be asked for: ${problem}`;
  throw new ToolError(message, { executed: 'unknown', code: 'result_invalid' });
}
