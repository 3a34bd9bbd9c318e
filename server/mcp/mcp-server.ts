import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { CallRecord } from '#lib/call/call-record';
import { TASKS } from '#lib/protocol/mcp-tasks';
import type { Agent } from '../auth/principal.ts';
import type { AgentSession } from './agent-session.ts';
import { type AnswerRoom, roomToRead } from './answer-room.ts';
import { cancelCall } from './call-tool.ts';
import { callTool, INVALID_PARAMS, type ToolsCallDeps, timesOf } from './handle-tools-call.ts';
import { RESULT_TOOL } from './mcp-tools.ts';
import { takesTasks } from './request-capabilities.ts';
import { RESOURCE_TEMPLATES, type ResourceDeps, readResource } from './resources.ts';
import { resultTool } from './result-tool.ts';
import { taskParamsSchema, toTask } from './tasks.ts';
import { type TraceDeps, TracedServer, traceOf } from './traced-server.ts';

export interface McpServerDeps
  extends Omit<ToolsCallDeps, 'sources'>,
    Omit<ResourceDeps, 'makeRoom' | 'calls'> {
  readonly sources: Omit<ToolsCallDeps['sources'], keyof AnswerRoom>;
  readonly version: string;
  readonly spans: TraceDeps['spans'];
}

const INSTRUCTIONS = `These tools run in people's browser tabs and phones and on the Callboard server; a call may wait for a person's approval. When a result says that a call goes on, get its result with ${RESULT_TOOL} and do not repeat the call.`;

/** The server of one request: what an agent sees and does by MCP (rules MP in SPEC.md). */
export function createMcpServer(
  shared: McpServerDeps,
  session: AgentSession,
  era: 'legacy' | 'modern',
): Server {
  const { agent, makeRoom, resizeRoom } = session;
  const deps = {
    ...{ ...shared, sources: { ...shared.sources, makeRoom, resizeRoom } },
    // Also of another's call: whose it is, its record says.
    async findCall(asking: Agent, callId: string) {
      await roomToRead(session, await shared.calls.storedBytes(callId));
      return shared.findCall(asking, callId);
    },
  };
  const isModern = era === 'modern';
  const name = { name: 'callboard', title: 'Callboard', version: deps.version };
  const options = {
    instructions: INSTRUCTIONS,
    capabilities: {
      ...{ tools: { listChanged: true }, resources: {} },
      ...(isModern ? { extensions: { [TASKS]: {} } } : {}),
    },
  };
  const { spans, clock } = deps;
  const server = spans.isOn
    ? new TracedServer({ spans, now: clock.now, sessionId: session.sessionId }, name, options)
    : new Server(name, options);
  server.setRequestHandler('tools/list', () => ({
    tools: [...deps.toolsFor(agent).map(({ reference: _, ...tool }) => tool), resultTool],
  }));
  server.setRequestHandler('tools/call', async ({ params }, context) => ({
    ...(await callTool(deps, session, params, { context, isModern })),
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

/**
 * `tasks/get`, `tasks/update` and `tasks/cancel` (rules MP40 to MP44): each for the agent's own
 * calls alone, and for requests that name the extension.
 */
function addTaskMethods(server: Server, deps: ToolsCallDeps, agent: Agent): void {
  const find = async (taskId: string, context: ServerContext): Promise<CallRecord> => {
    const call = await deps.findCall(agent, taskId);
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
