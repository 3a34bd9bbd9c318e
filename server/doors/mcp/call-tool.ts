import type { Call } from '#lib/call/call';
import type { InvokeRefusal } from '#lib/call/call-outcome';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { Agent } from '../../auth/room.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { CallService } from '../../calls/room.ts';
import { cancelCall } from '../room.ts';
import { roomToRead } from './agent-session.ts';
import { reportProgress, type SendProgress, waitsFor } from './report-progress.ts';
import {
  failedResult,
  type ResultSources,
  stillRunning,
  type ToolResult,
  toToolResult,
} from './tool-result.ts';

export interface CallToolDeps {
  readonly calls: Pick<
    CallService,
    'invoke' | 'get' | 'follow' | 'wait' | 'cancel' | 'storedBytes'
  >;
  readonly clock: Clock;
  readonly sources: ResultSources;
  readonly logger: Logger;
}

export interface ToolCallRequest {
  readonly agent: Agent;
  /** `name` or `name@client`. */
  readonly reference: string;
  readonly args: unknown;
  readonly runId: string;
  /** The trace that came in with it, in the form that `readTraceparent` gives. */
  readonly traceparent: string | undefined;
}

/** How long an answer is held for a client, and what it is sent meanwhile. */
export interface Waiting {
  /** Milliseconds. */
  readonly holdMs: number;
  /** Undefined: the client did not ask for progress. */
  readonly send: SendProgress | undefined;
  /** Aborted when the client wants the call no more. Later aborts change nothing. */
  readonly cancelled: AbortSignal;
  /** An abort ends the call; else it ends the waiting alone. */
  readonly endsCall: boolean;
}

/** Records the call; a refusal, of which there is no call, is a result that says what would be right. */
export async function startCall(
  { calls }: CallToolDeps,
  { agent, reference, ...request }: ToolCallRequest,
): Promise<{ call: Call } | { refused: ToolResult }> {
  const outcome = await calls.invoke({
    principal: agent,
    via: 'mcp',
    tool: reference,
    ...request,
    waitsForEnd: true,
  });
  return outcome.ok ? { call: outcome.call } : { refused: failedResult(describeRefusal(outcome)) };
}

function describeRefusal({ message, code, details = [] }: InvokeRefusal): string {
  const lines = details.slice(0, 10).map(({ path, problem }) => `- ${path}: ${problem}`);
  return [message, ...lines, `(${code}) It did not run.`].join('\n');
}

/**
 * The call once it is final, or as it is after `holdMs`. A client that cancels ends the call
 * (rules MP21, MP22).
 */
export async function awaitCall(
  deps: CallToolDeps,
  agent: Agent,
  call: Call,
  { holdMs, send, cancelled, endsCall }: Waiting,
): Promise<Call> {
  if (isFinalStatus(call.status)) return call;
  const { calls } = deps;
  const onCancel = () => {
    if (endsCall) void cancelCall(deps, agent, call.id).catch(deps.logger.error);
  };
  cancelled.addEventListener('abort', onCancel, { once: true });
  if (cancelled.aborted) onCancel();
  const stop = send && reportProgress(deps, call, send);
  const beforeRead = (bytes: number) => roomToRead(deps.sources, bytes);
  try {
    return (await calls.wait(call.id, holdMs, cancelled, beforeRead)) ?? call;
  } finally {
    stop?.();
    cancelled.removeEventListener('abort', onCancel);
  }
}

/** The result; or, of a call that goes on, that it does, and how its result is fetched. */
export const toAnswer = async (
  { sources }: Pick<CallToolDeps, 'sources'>,
  call: Call,
): Promise<ToolResult> =>
  isFinalStatus(call.status) ? toToolResult(call, sources) : stillRunning(call, waitsFor(call));
