import { ProtocolError, Server } from '@modelcontextprotocol/server';
import { TASKS } from '#lib/protocol/mcp-tasks';
import type { Agent } from '../auth/principal.ts';
import type { AgentSession } from './agent-session.ts';
import { type AnswerRoom, roomToRead } from './answer-room.ts';
import { addTaskMethods } from './handle-tasks.ts';
import { callTool, INVALID_PARAMS, type ToolsCallDeps } from './handle-tools-call.ts';
import { RESULT_TOOL } from './mcp-tools.ts';
import { RESOURCE_TEMPLATES, type ResourceDeps, readResource } from './resources.ts';
import { resultTool } from './result-tool.ts';
import { type TraceDeps, TracedServer } from './traced-server.ts';

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
