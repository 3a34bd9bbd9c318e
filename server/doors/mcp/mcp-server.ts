import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Call } from '#lib/call/call';
import { HttpError } from '#lib/protocol/http-error';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { TASKS } from '#lib/protocol/mcp-tasks';
import type { Agent } from '../../auth/room.ts';
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
import { awaitCall, type CallToolDeps, startCall, toAnswer, type Waiting } from './call-tool.ts';
import type { McpConfig } from './mcp-config.ts';
import { type McpTool, RESULT_TOOL, resultArgsSchema, resultTool } from './mcp-tools.ts';
import type { SendProgress } from './report-progress.ts';
import { RESOURCE_TEMPLATES, type ResourceDeps, readResource } from './resources.ts';
import { QUICK_MS, type Task, taskParamsSchema, toCreatedTask, toTask } from './tasks.ts';
import { failedResult, fetchedLater, type ToolResult } from './tool-result.ts';
import { type TraceDeps, TracedServer, traceOf } from './traced-server.ts';

export interface McpServerDeps
  extends Omit<ToolsCallDeps, 'sources' | 'findCall'>,
    Omit<ResourceDeps, 'makeRoom' | 'calls'> {
  readonly sources: Omit<ToolsCallDeps['sources'], keyof AnswerRoom>;
  readonly version: string;
  readonly spans: TraceDeps['spans'];
}

const INSTRUCTIONS = `These tools run in people's browser tabs and phones and on the Callboard server; a call may wait for a person's approval. When a result says that a call goes on, get its result with ${RESULT_TOOL} and do not repeat the call.`;

export const serverInfo = ({ version }: Pick<McpServerDeps, 'version'>) => ({
  name: 'callboard',
  title: 'Callboard',
  version,
});

/** The server of one request: what an agent sees and does by MCP (rules MP in SPEC.md). */
export function createMcpServer(
  shared: McpServerDeps,
  session: AgentSession,
  era: 'legacy' | 'modern',
): Server {
  const { agent, makeRoom } = session;
  const deps = inSession(shared, session);
  const isModern = era === 'modern';
  const options = {
    instructions: INSTRUCTIONS,
    capabilities: {
      tools: { listChanged: true },
      resources: {},
      ...(isModern ? { extensions: { [TASKS]: {} } } : {}),
    },
  };
  const { spans, clock } = deps;
  const server = spans.isOn
    ? new TracedServer(
        { spans, now: clock.now, sessionId: session.sessionId },
        serverInfo(deps),
        options,
      )
    : new Server(serverInfo(deps), options);
  server.setRequestHandler('tools/list', () => ({
    tools: [...deps.toolsFor(agent).map(({ reference: _, ...tool }) => tool), resultTool],
  }));
  server.setRequestHandler('tools/call', async ({ params }, context) => ({
    ...(await callTool(shared, session, params, { context, isModern })),
  }));
  server.setRequestHandler('resources/list', () => ({ resources: [] }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [...RESOURCE_TEMPLATES],
  }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const contents = await readResource({ ...deps, makeRoom }, agent, uri);
    if (!contents) throw new ProtocolError(INVALID_PARAMS, 'Resource not found', { uri });
    return { contents: [contents] };
  });
  if (isModern) addTaskMethods(server, deps, agent);
  return server;
}

/** Large answers of the session have their room. */
function inSession(shared: McpServerDeps, session: AgentSession) {
  const { makeRoom, resizeRoom } = session;
  return {
    ...shared,
    sources: { ...shared.sources, makeRoom, resizeRoom },
    findCall: (callId: string) =>
      seenCall(shared, session.agent, callId, (bytes) => roomToRead(session, bytes)),
  };
}

/**
 * `tasks/get`, `tasks/update` and `tasks/cancel` (rules MP40 to MP44): each for the agent's own
 * calls alone, and for requests that name the extension.
 */
function addTaskMethods(server: Server, deps: ToolsCallDeps, agent: Agent): void {
  const find = async (taskId: string, context: ServerContext): Promise<Call> => {
    const call = await deps.findCall(taskId);
    if (!call) throw new ProtocolError(INVALID_PARAMS, 'Task not found', { taskId });
    traceOf(context)?.concerns(call);
    return call;
  };
  const schemas = { params: taskParamsSchema };
  server.setRequestHandler('tasks/get', schemas, async ({ taskId }, context) => {
    requireTasks(context);
    const call = await find(taskId, context);
    const inputRequests = deps.questions.of(call, context);
    return { ...(await toTask(call, { ...timesOf(deps), inputRequests }, deps.sources)) };
  });
  // An answer ends a question. It decides nothing about the call: that is up to operators.
  server.setRequestHandler('tasks/update', schemas, async ({ taskId }, context) => {
    requireTasks(context);
    deps.questions.answered((await find(taskId, context)).id, context);
    return {};
  });
  server.setRequestHandler('tasks/cancel', schemas, async ({ taskId }, context) => {
    requireTasks(context);
    await cancelCall(deps, agent, (await find(taskId, context)).id);
    return {};
  });
}

/** Before the parameters are looked at, so that a client learns what it lacks. */
function requireTasks(context: ServerContext): void {
  if (takesTasks(context)) return;
  throw new MissingRequiredClientCapabilityError({
    requiredCapabilities: { extensions: { [TASKS]: {} } },
  });
}

interface ToolsCallDeps extends CallToolDeps {
  /** Gives the tools that the agent may call now. */
  readonly toolsFor: (agent: Agent) => readonly McpTool[];
  /** The agent's own call; undefined for every other. */
  readonly findCall: (callId: string) => Promise<Call | undefined>;
  readonly openRequests: OpenRequests;
  readonly questions: ApprovalQuestions;
  /** How long an answer is held for a client that did not ask for progress, and for one that did. */
  readonly holdMs: McpConfig['hold_ms'];
  readonly runIdOf: (session: AgentSession) => string;
  /** How long history is kept, in milliseconds; null: for ever. */
  readonly keepMs: number | null;
}

interface CallParams {
  readonly name: string;
  readonly arguments?: Record<string, unknown> | undefined;
}

interface Request {
  readonly context: AskedRequest;
  readonly isModern: boolean;
}

/** JSON-RPC: what was asked for does not exist, or is not formed as it must be. */
const INVALID_PARAMS = -32_602;

/** `tools/call` (rules MP15 to MP22). */
export async function callTool(
  shared: McpServerDeps,
  session: AgentSession,
  params: CallParams,
  request: Request,
): Promise<CallAnswer> {
  const deps = inSession(shared, session);
  const { signal, id } = request.context.mcpReq;
  if (request.isModern) return answer(deps, session, params, { ...request, cancelled: signal });
  // A connection that is cut cancels nothing in the old protocol: a message does.
  const open = deps.openRequests.open(sessionKey(session), id);
  try {
    return await answer(deps, session, params, { ...request, cancelled: open.signal });
  } finally {
    open.close();
  }
}

type CallAnswer = ToolResult | (Task & { content: never[]; _meta?: never });

async function answer(
  deps: ToolsCallDeps,
  session: AgentSession,
  params: CallParams,
  { context, isModern, cancelled }: Request & { readonly cancelled: AbortSignal },
): Promise<CallAnswer> {
  const { agent } = session;
  const waiting = waitingOf(deps, context, cancelled);
  const trace = traceOf(context);
  if (params.name === RESULT_TOOL) {
    return fetchResult(deps, agent, params.arguments, { ...waiting, trace });
  }
  const tool = deps.toolsFor(agent).find(({ name }) => name === params.name);
  if (!tool) throw new ProtocolError(INVALID_PARAMS, `Unknown tool: ${params.name}`);
  const started = await startCall(deps, {
    agent,
    reference: tool.reference,
    args: params.arguments ?? {},
    runId: deps.runIdOf(session),
    traceparent: trace ? trace.traceparent : readTraceparent(context.mcpReq._meta?.traceparent),
  });
  if ('refused' in started) return started.refused;
  trace?.concerns(started.call);
  return orLater(started.call.id, () =>
    endOf(deps, session, started.call, { context, isModern, waiting }),
  );
}

interface Held {
  readonly context: AskedRequest;
  readonly isModern: boolean;
  readonly waiting: Waiting;
}

/** Its result, or what stands in place of one. */
async function endOf(
  deps: ToolsCallDeps,
  { agent }: AgentSession,
  started: Call,
  { context, isModern, waiting }: Held,
): Promise<CallAnswer> {
  if (!isModern || !takesTasks(context)) {
    return toAnswer(deps, await awaitCall(deps, agent, started, waiting));
  }
  const call = await awaitCall(deps, agent, started, { ...waiting, holdMs: QUICK_MS });
  if (isFinalStatus(call.status)) return toAnswer(deps, call);
  return { ...toCreatedTask(call, timesOf(deps)), content: [] };
}

const timesOf = ({ clock, keepMs }: Pick<ToolsCallDeps, 'clock' | 'keepMs'>) => ({
  now: clock.now(),
  keepMs,
});

/** The final result of an earlier call, or that it still goes on. To give up waiting ends nothing. */
async function fetchResult(
  deps: ToolsCallDeps,
  agent: Agent,
  args: unknown,
  { trace, ...waiting }: Waiting & { readonly trace: ReturnType<typeof traceOf> },
): Promise<ToolResult> {
  const asked = resultArgsSchema.safeParse(args);
  if (!asked.success) {
    return failedResult('Give the id of a call as "call", and "wait_s" from 0 to 40.');
  }
  const { call: id, wait_s } = asked.data;
  return orLater(id, async () => {
    const call = await deps.findCall(id);
    if (!call) return failedResult(`You have no call ${JSON.stringify(id)}.`);
    trace?.concerns(call);
    const holdMs = wait_s * 1_000;
    const last = await awaitCall(deps, agent, call, { ...waiting, holdMs, endsCall: false });
    return toAnswer(deps, last);
  });
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

function waitingOf(
  { holdMs }: ToolsCallDeps,
  { mcpReq }: AskedRequest,
  cancelled: AbortSignal,
): Waiting {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) {
    return { holdMs: holdMs.plain, send: undefined, cancelled, endsCall: true };
  }
  const send: SendProgress = (note) =>
    mcpReq.notify({ method: 'notifications/progress', params: { progressToken, ...note } });
  return { holdMs: holdMs.progress, send, cancelled, endsCall: true };
}
