import {
  type Client,
  type ProgressCallback,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type Transport,
} from '@modelcontextprotocol/client';
import { errorMessage } from '#lib/util/error-message';
import { given } from '#lib/util/given';
import { type ToolAnswer, type ToolContext, ToolError } from '../tools/room.ts';
import { MessageTooLargeError } from './bounded-fetch.ts';
import { toAnswer } from './call-result.ts';
import { ProgramTransport } from './program-transport.ts';
import { type CreatedTask, resultOf, TAKES_TASKS, taskOf } from './task-messages.ts';

/** The longest that a timer can wait: how long a call may take is the engine's. */
const NO_LIMIT_MS = 2 ** 31 - 1;

export interface ServerCall {
  /** The id of the server, for people. */
  readonly id: string;
  readonly foreign: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly args: Readonly<Record<string, unknown>>;
  /** However often its progress gives it its time anew. */
  readonly mostMs: number;
}

/** Makes what goes along with each call besides its arguments. */
const metaOf = (client: Client, { traceparent }: ToolContext) => ({
  ...given({ traceparent }),
  ...(client.getProtocolEra() === 'modern' && TAKES_TASKS),
});

/** A server answers a call with its result, or with a task that has it later. */
export type CallAnswer = { readonly answer: ToolAnswer } | { readonly task: CreatedTask };

/** Runs one call at its server. What it throws is a `ToolError`, or why the call was stopped. */
export async function runCall(
  client: Client,
  call: ServerCall,
  context: ToolContext,
): Promise<CallAnswer> {
  const { foreign: name, schema, args, mostMs } = call;
  const { signal } = context;
  const { transport } = client;
  const onprogress: ProgressCallback = (note) => {
    context.prolong?.(mostMs);
    const update = updateOf(note);
    if (update) context.status(update);
  };
  const result = await client
    .callTool(
      { name, arguments: { ...args }, _meta: metaOf(client, context) },
      {
        signal,
        timeout: NO_LIMIT_MS,
        onprogress,
        // Without the schema of its results: it would be compiled.
        toolDefinition: { name, inputSchema: { ...schema, type: 'object' } },
      },
    )
    .then(resultOf, (error: unknown) => {
      signal.throwIfAborted();
      if (isSessionLost(error, client)) throw new SessionLostError(call.id);
      throw toToolError(error, call, transport);
    });
  const task = taskOf(result);
  return task ? { task } : { answer: await toAnswer(result, context.attach) };
}

/** The server does not know the session any more, as after its restart, and refused the call for that. */
export class SessionLostError extends ToolError {
  constructor(id: string) {
    super(`The MCP server ${id} does not know the session any more.`, {
      executed: 'unknown',
    });
  }
}

const NAMES_SESSION = /\bsession|not initiali[sz]ed/i;

/** By 404 to a request that named a session, or a refusal that says so (rule MC83). */
export function isSessionLost(error: unknown, { transport }: Client): boolean {
  if (!(error instanceof SdkHttpError)) return false;
  if (error.status === 404 && transport?.sessionId !== undefined) return true;
  return [400, 404, 410].includes(error.status ?? 0) && NAMES_SESSION.test(error.message);
}

/** The server was lost with the call, of which nothing is known. */
export const isLost = (error: unknown): boolean =>
  error instanceof ToolError && error.code === 'outcome_unknown';

/** The call was not sent. */
export const isNotRun = (error: unknown): boolean =>
  error instanceof ToolError && error.executed === 'no';

const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;

/** Asked again, the server would answer the same. */
export const isFinalFailure = (error: unknown): boolean =>
  error instanceof MessageTooLargeError ||
  (error instanceof ProtocolError && isRefusal(error)) ||
  (error instanceof SdkError &&
    (error.code === SdkErrorCode.InvalidResult ||
      error.code === SdkErrorCode.UnsupportedResultType));

const isRefusal = ({ code }: ProtocolError): boolean =>
  code === METHOD_NOT_FOUND || code === INVALID_PARAMS;

export function toToolError(
  error: unknown,
  { id, foreign }: Pick<ServerCall, 'id' | 'foreign'>,
  transport?: Transport,
): ToolError {
  const message = `${id}: ${errorMessage(error).slice(0, 2_000)}`;
  if (error instanceof MessageTooLargeError) {
    return new ToolError(message, { code: 'result_too_large' });
  }
  // Whatever a server answers, the call was sent: that it did not run is its word alone.
  if (error instanceof ProtocolError || error instanceof SdkHttpError) {
    return new ToolError(message, { executed: 'unknown' });
  }
  if (error instanceof SdkError && error.code !== SdkErrorCode.ConnectionClosed) {
    return new ToolError(message, OF_SDK[error.code] ?? { executed: 'unknown' });
  }
  if (isNeverSent(error)) return new ToolError(message, { executed: 'no', code: 'no_provider' });
  const program = transport instanceof ProgramTransport && transport.ended ? transport : undefined;
  const how = program ? `its program ended ${program.ended}: ${program.lastWords}` : message;
  const lost = `The server ${id} was lost while it ran ${foreign}: ${how}`;
  const ofCase = { reason: 'server_left', params: { name: id } };
  return new ToolError(lost, { ...ofCase, executed: 'unknown', code: 'outcome_unknown' });
}

type Case = ConstructorParameters<typeof ToolError>[1];

const OF_SDK: Readonly<Record<string, Case>> = {
  [SdkErrorCode.NotConnected]: { executed: 'no', code: 'no_provider' },
  [SdkErrorCode.InvalidResult]: { code: 'result_invalid' },
  [SdkErrorCode.UnsupportedResultType]: { code: 'result_invalid' },
};

/** Nothing listens there. */
function isNeverSent(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';
}

export const TIP_CHARS = 500;

type Update = Parameters<ToolContext['status']>[0];

/** The progress of a call as its card shows it; undefined where a report says nothing. */
function updateOf({ progress, total, message }: Parameters<ProgressCallback>[0]) {
  const done = Number.isFinite(progress) && progress >= 0 ? progress : undefined;
  const of = total !== undefined && Number.isFinite(total) && total > 0 ? total : undefined;
  if (done === undefined && message === undefined) return undefined;
  const update: Update = {
    ...given({ tip: message?.slice(0, TIP_CHARS) }),
    ...(done !== undefined && { progress: { done, ...given({ total: of }) } }),
  };
  return update;
}
