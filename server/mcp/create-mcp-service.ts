import { type AuthInfo, createMcpHandler } from '@modelcontextprotocol/server';
import type { EventBus } from '../events/event-bus.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';
import { type AgentSession, sessionKey } from './agent-session.ts';
import { createApprovalQuestions } from './approval-questions.ts';
import { createCallFollowers } from './call-followers.ts';
import { cancelledRequest, isInitialize, withoutNulls } from './json-rpc.ts';
import { createLegacySessions, SESSION_HEADER } from './legacy-sessions.ts';
import { ListStreams } from './list-streams.ts';
import { createMcpServer, type McpServerDeps } from './mcp-server.ts';
import type { McpService } from './mcp-service.ts';
import { createOpenRequests } from './open-requests.ts';
import { createRefusalLog } from './refusal-log.ts';
import { createToolLists } from './tool-lists.ts';

export interface McpServiceDeps
  extends Omit<
    McpServerDeps,
    'followers' | 'openRequests' | 'questions' | 'toolsFor' | 'findCall'
  > {
  /** Whether clients are shown where approvals are decided, and the origin of the board. */
  readonly approvalUrl: boolean;
  readonly publicUrl: string | undefined;
  readonly registry: Pick<ToolRegistry, 'list' | 'find' | 'onChange'>;
  readonly bus: Pick<EventBus, 'subscribe'>;
}

/** Of all agents; what one of them may have is bounded where its requests come in. */
const MOST_SUBSCRIPTIONS = 10_000;

/** MCP over HTTP for agents (rules MP in SPEC.md). It keeps no sessions, only what is open. */
export function createMcpService(deps: McpServiceDeps): McpService {
  const { calls, clock, bus, logger } = deps;
  const sessions = createLegacySessions(deps.key);
  const streams = new ListStreams(clock);
  const openRequests = createOpenRequests();
  const followers = createCallFollowers(bus);
  const refusals = createRefusalLog({ clock, logger });
  /** What belongs to a request, under the object that the handler passes through. */
  const asking = new WeakMap<AuthInfo, AgentSession>();
  const lists = createToolLists({
    ...deps,
    onChanged() {
      handler.notify.toolsChanged();
      streams.toolsChanged();
    },
  });
  const serverDeps: McpServerDeps = {
    ...{ ...deps, followers, openRequests },
    questions: createApprovalQuestions(followers, {
      isOn: deps.approvalUrl,
      publicUrl: deps.publicUrl,
    }),
    toolsFor: lists.of,
    async findCall(agent, callId) {
      const call = await calls.get(callId);
      return call?.ownerToken === agent.tokenId ? call : undefined;
    },
  };
  const handler = createMcpHandler(
    ({ era, authInfo }) => {
      const session = authInfo && asking.get(authInfo);
      if (!session) throw new Error('A request of MCP came without its agent');
      return createMcpServer(serverDeps, session, era);
    },
    {
      maxSubscriptions: MOST_SUBSCRIPTIONS,
      onerror: (error) => refusals.note(error.message),
    },
  );

  return {
    isSession: (agent, sessionId) => sessions.isOf(agent.tokenId, sessionId),
    endSession: (agent, sessionId) => sessions.end(agent.tokenId, sessionId),
    async answer(post) {
      const { agent, request } = post;
      const body = withoutNulls(post.body);
      const cancels = cancelledRequest(body);
      if (cancels !== undefined) openRequests.cancel(sessionKey(post), cancels);
      const authInfo = { token: '', clientId: agent.tokenId, scopes: [] };
      asking.set(authInfo, post);
      const response = await handler.fetch(request, { authInfo, parsedBody: body });
      if (isInitialize(body) && response.ok) {
        response.headers.set(SESSION_HEADER, sessions.make(agent.tokenId));
      }
      return response;
    },
    openStream: (agent, stream) => streams.open(agent.tokenId, stream),
    async close() {
      lists.stop();
      refusals.close();
      followers.close();
      streams.close();
      await handler.close();
    },
  };
}
