import { ProtocolError, type ServerContext } from '@modelcontextprotocol/server';
import type { Call } from '#lib/call/call';
import type { InvokeRefusal } from '#lib/call/call-outcome';
import { HttpError } from '#lib/protocol/http-error';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { Agent } from '../../auth/room.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { CallService } from '../../calls/room.ts';
import { readTraceparent } from '../../telemetry/room.ts';
import { cancelCall, seenCall } from '../room.ts';
import {
  type AgentSession,
  type AnswerRoom,
  type AskedRequest,
  type OpenRequests,
  roomToRead,
  sessionKey,
  takesTasks,
} from './agent-session.ts';
import type { ApprovalQuestions } from './approval-questions.ts';
import type { McpConfig } from './mcp-config.ts';
import { type McpTool, RESULT_TOOL, resultArgsSchema, resultTool } from './mcp-tools.ts';
import { reportProgress, type SendProgress, waitsFor } from './report-progress.ts';
import { QUICK_MS, type Task, toCreatedTask, toTask } from './tasks.ts';
import {
  failedResult,
  fetchedLater,
  type ResultSources,
  stillRunning,
  type ToolResult,
  toToolResult,
} from './tool-result.ts';
import { traceOf } from './traced-server.ts';

/** The requests of all agents share this. */
export interface AgentRequestsDeps {
  readonly calls: Pick<
    CallService,
    'invoke' | 'get' | 'follow' | 'wait' | 'cancel' | 'storedBytes'
  >;
  readonly sources: Omit<ResultSources, keyof AnswerRoom>;
  /** Gives the tools that the agent may call now. */
  readonly toolsFor: (agent: Agent) => readonly McpTool[];
  readonly openRequests: OpenRequests;
  readonly questions: ApprovalQuestions;
  /** How long an answer is held for a client that did not ask for progress, and for one that did. */
  readonly holdMs: McpConfig['hold_ms'];
  readonly runIdOf: (session: AgentSession) => string;
  /** How long history is kept, in milliseconds; null: for ever. */
  readonly keepMs: number | null;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface CallParams {
  readonly name: string;
  readonly arguments?: Record<string, unknown> | undefined;
}

interface Waiting {
  /** By default it depends on whether the client asked for progress. */
  readonly holdMs?: number;
  /** Aborted when the client wants the call no more. Later aborts change nothing. */
  readonly cancelled: AbortSignal;
  /** An abort ends the call; else it ends the waiting alone. */
  readonly endsCall: boolean;
}

type CallAnswer = ToolResult | (Task & { content: never[]; _meta?: never });

/** JSON-RPC: what was asked for does not exist, or is not formed as it must be. */
export const INVALID_PARAMS = -32_602;

/** An agent sees and does this by the requests of one message, in either generation of the protocol. */
export class AgentRequests {
  readonly #deps: AgentRequestsDeps;
  readonly #session: AgentSession;
  readonly #isModern: boolean;
  /** Large answers of the session have their room. */
  readonly #sources: ResultSources;

  constructor(deps: AgentRequestsDeps, session: AgentSession, isModern: boolean) {
    this.#deps = deps;
    this.#session = session;
    this.#isModern = isModern;
    const { makeRoom, resizeRoom } = session;
    this.#sources = { ...deps.sources, makeRoom, resizeRoom };
  }

  listTools() {
    const tools = this.#deps.toolsFor(this.#session.agent);
    return [...tools.map(({ reference: _, ...tool }) => tool), resultTool];
  }

  /** `tools/call` (rules MP15 to MP22). */
  async callTool(params: CallParams, request: AskedRequest): Promise<CallAnswer> {
    const { signal, id } = request.mcpReq;
    if (this.#isModern) return this.#answer(params, request, signal);
    // A connection that is cut cancels nothing in the old protocol: a message does.
    const open = this.#deps.openRequests.open(sessionKey(this.#session), id);
    try {
      return await this.#answer(params, request, open.signal);
    } finally {
      open.close();
    }
  }

  /** The call behind a task, which is the agent's own. */
  async findTask(taskId: string, request: AskedRequest): Promise<Call> {
    const call = await this.#findCall(taskId);
    if (!call) throw new ProtocolError(INVALID_PARAMS, 'Task not found', { taskId });
    traceOf(request)?.concerns(call);
    return call;
  }

  async readTask(taskId: string, context: ServerContext): Promise<Task> {
    const call = await this.findTask(taskId, context);
    const inputRequests = this.#deps.questions.of(call, context);
    return toTask(call, { ...this.#times(), inputRequests }, this.#sources);
  }

  async cancelTask(taskId: string, request: AskedRequest): Promise<void> {
    await this.#cancel(await this.findTask(taskId, request));
  }

  async #answer(
    { name, arguments: args = {} }: CallParams,
    request: AskedRequest,
    cancelled: AbortSignal,
  ): Promise<CallAnswer> {
    if (name === RESULT_TOOL) return this.#fetchResult(args, request, cancelled);
    const { calls, toolsFor, runIdOf } = this.#deps;
    const { agent } = this.#session;
    const tool = toolsFor(agent).find((one) => one.name === name);
    if (!tool) throw new ProtocolError(INVALID_PARAMS, `Unknown tool: ${name}`);
    const trace = traceOf(request);
    const outcome = await calls.invoke({
      principal: agent,
      via: 'mcp',
      tool: tool.reference,
      args,
      runId: runIdOf(this.#session),
      traceparent: trace ? trace.traceparent : readTraceparent(request.mcpReq._meta?.traceparent),
      waitsForEnd: true,
    });
    // Of a refusal there is no call: it is a result that says what would be right.
    if (!outcome.ok) return failedResult(describeRefusal(outcome));
    trace?.concerns(outcome.call);
    return orLater(outcome.call.id, async () => {
      if (!this.#isModern || !takesTasks(request)) {
        return this.#waitFor(outcome.call, request, { cancelled, endsCall: true });
      }
      const waiting = { cancelled, endsCall: true, holdMs: QUICK_MS };
      const call = await this.#await(outcome.call, request, waiting);
      if (isFinalStatus(call.status)) return toToolResult(call, this.#sources);
      return { ...toCreatedTask(call, this.#times()), content: [] };
    });
  }

  /** The final result of an earlier call, or that it still goes on. To give up waiting ends nothing. */
  async #fetchResult(
    args: unknown,
    request: AskedRequest,
    cancelled: AbortSignal,
  ): Promise<ToolResult> {
    const asked = resultArgsSchema.safeParse(args);
    if (!asked.success) {
      return failedResult('Give the id of a call as "call", and "wait_s" from 0 to 40.');
    }
    const { call: id, wait_s } = asked.data;
    return orLater(id, async () => {
      const call = await this.#findCall(id);
      if (!call) return failedResult(`You have no call ${JSON.stringify(id)}.`);
      traceOf(request)?.concerns(call);
      const holdMs = wait_s * 1_000;
      return this.#waitFor(call, request, { cancelled, endsCall: false, holdMs });
    });
  }

  /** The result; or, of a call that goes on, that it does, and how its result is fetched. */
  async #waitFor(started: Call, request: AskedRequest, waiting: Waiting): Promise<ToolResult> {
    const call = await this.#await(started, request, waiting);
    const isFinal = isFinalStatus(call.status);
    return isFinal ? toToolResult(call, this.#sources) : stillRunning(call, waitsFor(call));
  }

  /**
   * The call once it is final, or as it is after `holdMs`. A client that cancels ends the call
   * (rules MP21, MP22).
   */
  async #await(
    call: Call,
    { mcpReq }: AskedRequest,
    { holdMs, cancelled, endsCall }: Waiting,
  ): Promise<Call> {
    if (isFinalStatus(call.status)) return call;
    const { calls, holdMs: usual, logger } = this.#deps;
    const onCancel = () => {
      if (endsCall) void this.#cancel(call).catch(logger.error);
    };
    cancelled.addEventListener('abort', onCancel, { once: true });
    if (cancelled.aborted) onCancel();
    const send = progressOf(mcpReq);
    const stop = send && reportProgress(this.#deps, call, send);
    const most = holdMs ?? (send ? usual.progress : usual.plain);
    const beforeRead = (bytes: number) => roomToRead(this.#session, bytes);
    try {
      return (await calls.wait(call.id, most, cancelled, beforeRead)) ?? call;
    } finally {
      stop?.();
      cancelled.removeEventListener('abort', onCancel);
    }
  }

  #cancel({ id }: Call) {
    return cancelCall(this.#deps, this.#session.agent, id);
  }

  /** The agent's own call; undefined for every other. */
  #findCall(id: string): Promise<Call | undefined> {
    const { agent } = this.#session;
    return seenCall(this.#deps, agent, id, (bytes) => roomToRead(this.#session, bytes));
  }

  #times() {
    return { now: this.#deps.clock.now(), keepMs: this.#deps.keepMs };
  }
}

/** Undefined where the client did not ask for progress. */
function progressOf({ _meta, notify }: AskedRequest['mcpReq']): SendProgress | undefined {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return (note) => notify({ method: 'notifications/progress', params: { progressToken, ...note } });
}

function describeRefusal({ message, code, details = [] }: InvokeRefusal): string {
  const lines = details.slice(0, 10).map(({ path, problem }) => `- ${path}: ${problem}`);
  return [message, ...lines, `(${code}) It did not run.`].join('\n');
}

/** A call that has run has not failed because its large result has no room at the moment. */
async function orLater<Answer>(
  callId: string,
  answered: () => Promise<Answer>,
): Promise<Answer | ToolResult> {
  try {
    return await answered();
  } catch (error) {
    if (error instanceof HttpError && error.code === 'rate_limited') return fetchedLater(callId);
    throw error;
  }
}
