import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { TASKS } from '#lib/protocol/mcp-tasks';
import type { Spans } from '../../telemetry/room.ts';
import { AgentRequests, type AgentRequestsDeps, INVALID_PARAMS } from './agent-requests.ts';
import { type AgentSession, takesTasks } from './agent-session.ts';
import { RESULT_TOOL } from './mcp-tools.ts';
import { RESOURCE_TEMPLATES, type ResourceDeps, readResource } from './resources.ts';
import { taskParamsSchema } from './tasks.ts';
import { TracedServer } from './traced-server.ts';

export interface McpServerDeps extends AgentRequestsDeps, Omit<ResourceDeps, 'makeRoom' | 'calls'> {
  readonly version: string;
  readonly spans: Spans;
}

const INSTRUCTIONS = `These tools run in people's browser tabs and phones and on the Callboard server; a call may wait for a person's approval. When a result says that a call goes on, get its result with ${RESULT_TOOL} and do not repeat the call.`;

export const serverInfo = ({ version }: Pick<McpServerDeps, 'version'>) => ({
  name: 'callboard',
  title: 'Callboard',
  version,
});

/** The server of one request: what an agent sees and does by MCP (rules MP in SPEC.md). */
export function createMcpServer(
  deps: McpServerDeps,
  session: AgentSession,
  era: 'legacy' | 'modern',
): Server {
  const { agent, makeRoom, sessionId } = session;
  const isModern = era === 'modern';
  const requests = new AgentRequests(deps, session, isModern);
  const options = {
    instructions: INSTRUCTIONS,
    capabilities: {
      tools: { listChanged: true },
      resources: {},
      ...(isModern ? { extensions: { [TASKS]: {} } } : {}),
    },
  };
  const { spans, clock } = deps;
  const trace = { spans, now: clock.now, sessionId };
  const server = spans.isOn
    ? new TracedServer(trace, serverInfo(deps), options)
    : new Server(serverInfo(deps), options);
  server.setRequestHandler('tools/list', () => ({ tools: requests.listTools() }));
  server.setRequestHandler('tools/call', async ({ params }, context) => ({
    ...(await requests.callTool(params, context)),
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
  if (isModern) addTaskMethods(server, requests, deps);
  return server;
}

/**
 * `tasks/get`, `tasks/update` and `tasks/cancel` (rules MP40 to MP44): each for the agent's own
 * calls alone, and for requests that name the extension.
 */
function addTaskMethods(
  server: Server,
  requests: AgentRequests,
  { questions }: Pick<McpServerDeps, 'questions'>,
): void {
  const schemas = { params: taskParamsSchema };
  server.setRequestHandler('tasks/get', schemas, async ({ taskId }, context) => {
    requireTasks(context);
    return { ...(await requests.readTask(taskId, context)) };
  });
  // An answer ends a question. It decides nothing about the call: that is up to operators.
  server.setRequestHandler('tasks/update', schemas, async ({ taskId }, context) => {
    requireTasks(context);
    questions.answered((await requests.findTask(taskId, context)).id, context);
    return {};
  });
  server.setRequestHandler('tasks/cancel', schemas, async ({ taskId }, context) => {
    requireTasks(context);
    await requests.cancelTask(taskId, context);
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
