import { createHmac, timingSafeEqual } from 'node:crypto';
import { type AuthInfo, createMcpHandler } from '@modelcontextprotocol/server';
import { FairMap } from '#lib/limits/fair-map';
import { type Agent, newSecret } from '../../auth/room.ts';
import type { Clock } from '../../base/clock.ts';
import { readVersion } from '../../base/project.ts';
import type { ToolRegistry } from '../../tools/room.ts';
import {
  type AgentSession,
  createOpenRequests,
  createRunIds,
  type McpPost,
  type McpStream,
  sessionKey,
} from './agent-session.ts';
import { createApprovalQuestions } from './approval-questions.ts';
import { cancelledRequest, isInitialize, toRequest, withoutNulls } from './json-rpc.ts';
import type { McpConfig } from './mcp-config.ts';
import { createMcpServer, type McpServerDeps } from './mcp-server.ts';
import { type McpTool, type SchemaOf, toMcpTools } from './mcp-tools.ts';
import { answerPlainCall, readPlainCall } from './plain-call.ts';

/** One bridge opens four; of more than that the oldest is left over from a client that is gone. */
const MOST_OF_AN_AGENT = 8;

const CHANGED = `event: message\ndata: ${JSON.stringify({
  jsonrpc: '2.0',
  method: 'notifications/tools/list_changed',
})}\n\n`;

/** The streams of clients of the old protocol, by which they learn that tools changed (rule MP31). */
export class ListStreams {
  readonly #byAgent = new Map<string, McpStream[]>();

  /** Sends a first comment at once: some clients wait for it. Returns a function that leaves it. */
  open(agentId: string, stream: McpStream): () => void {
    const streams = this.#byAgent.get(agentId) ?? [];
    this.#byAgent.set(agentId, streams);
    streams.push(stream);
    if (streams.length > MOST_OF_AN_AGENT) streams.shift()?.end();
    stream.send(': open\n\n');
    return () => {
      const at = streams.indexOf(stream);
      if (at >= 0) streams.splice(at, 1);
      // A stream that was ended may close after its agent has others.
      const isNewest = this.#byAgent.get(agentId) === streams;
      if (isNewest && streams.length === 0) this.#byAgent.delete(agentId);
    };
  }

  toolsChanged(): void {
    for (const stream of [...this.#byAgent.values()].flat()) stream.send(CHANGED);
  }

  close(): void {
    for (const stream of [...this.#byAgent.values()].flat()) stream.end();
  }
}

/** The header of MCP up to 2025-11-25, in lower case. */
const SESSION_HEADER = 'mcp-session-id';

/** So many ended sessions are remembered: older ones count again, as they do after a restart. */
const MOST_ENDED = 1_000;

/**
 * Sessions of the old protocol, of which the server keeps nothing while they last: an id is a nonce
 * with its signature, so every good one is a session, after a restart too (rule MP30). `key`: of the
 * data directory.
 */
function createLegacySessions(key: string) {
  const sign = (agentId: string, nonce: string): string =>
    createHmac('sha256', key).update(`mcp session\n${agentId}\n${nonce}`).digest('base64url');
  const ended = new FairMap<true>(MOST_ENDED);
  return {
    make(agentId: string): string {
      const nonce = newSecret();
      return `${nonce}.${sign(agentId, nonce)}`;
    },
    /** Tells whether it was made here, for this agent, and was not ended. */
    isOf(agentId: string, sessionId: string): boolean {
      const [nonce = '', signature = '', ...more] = sessionId.split('.');
      if (more.length > 0 || ended.get(sessionId)) return false;
      const expected = Buffer.from(sign(agentId, nonce));
      const given = Buffer.from(signature);
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
    /** Ends a session that `isOf` accepts. */
    end(agentId: string, sessionId: string): void {
      ended.put(agentId, sessionId, true);
    },
  };
}

export interface McpServiceDeps
  extends Omit<McpServerDeps, 'openRequests' | 'questions' | 'toolsFor' | 'runIdOf' | FromConfig> {
  /** The secret of the data directory: what is signed or derived with it, no caller can make. */
  readonly key: string;
  readonly config: McpConfig;
  /** How long history is kept; undefined: for ever. */
  readonly keepDays: number | undefined;
  /** Clients are shown where approvals are decided, at this origin of the board. */
  readonly publicUrl: string | undefined;
  readonly registry: Pick<ToolRegistry, 'list' | 'find' | 'onChange'>;
  /** Aborted when the server stops: what is open ends. */
  readonly closing: AbortSignal;
}

type FromConfig = 'holdMs' | 'keepMs' | 'version';

/** All agents together have so many; one agent's are bounded where its requests come in. */
const MOST_SUBSCRIPTIONS = 10_000;

const DAY_MS = 86_400_000;

export type McpService = ReturnType<typeof createMcpService>;

/**
 * MCP over HTTP for agents (rules MP in SPEC.md): both generations, 2026-07-28 and those before it.
 * It keeps no sessions, only what is open.
 */
export function createMcpService(deps: McpServiceDeps) {
  const { calls, config, keepDays, publicUrl } = deps;
  const sessions = createLegacySessions(deps.key);
  const streams = new ListStreams();
  const openRequests = createOpenRequests();
  /** The session of a request, under the object that the handler passes through. */
  const asking = new WeakMap<AuthInfo, AgentSession>();
  const lists = createToolLists({
    ...deps,
    onChanged() {
      handler.notify.toolsChanged();
      streams.toolsChanged();
    },
  });
  const serverDeps: McpServerDeps = {
    ...deps,
    openRequests,
    holdMs: config.hold_ms,
    keepMs: keepDays === undefined ? null : keepDays * DAY_MS,
    version: readVersion(),
    questions: createApprovalQuestions(calls, { isOn: config.approval_url, publicUrl }),
    toolsFor: lists.of,
    runIdOf: createRunIds(deps.key),
  };
  let trouble: unknown;
  const handler = createMcpHandler(
    ({ era, authInfo }) => {
      const session = authInfo && asking.get(authInfo);
      if (!session) throw new Error('A request of MCP came without its agent');
      return createMcpServer(serverDeps, session, era);
    },
    {
      maxSubscriptions: MOST_SUBSCRIPTIONS,
      // Its client is told what is refused; in the log it would be words of strangers.
      onerror: (error) => {
        trouble = error;
      },
    },
  );

  const close = async () => {
    lists.stop();
    streams.close();
    await handler.close();
  };
  deps.closing.addEventListener('abort', () => void close());

  return {
    /** Tells whether the id was made here for this agent. */
    isSession: (agent: Agent, sessionId: string) => sessions.isOf(agent.tokenId, sessionId),
    /** Ends a session; it is not one any more. */
    endSession: (agent: Agent, sessionId: string) => sessions.end(agent.tokenId, sessionId),
    /** Answers one message, by JSON or by what may be a stream, which ends no sooner than the call. */
    async answer(post: McpPost): Promise<Response | { readonly json: object }> {
      const plain = deps.spans.isOn ? undefined : readPlainCall(post);
      if (plain) return { json: await answerPlainCall(serverDeps, post, plain) };
      const { agent } = post;
      const body = withoutNulls(post.body);
      const cancels = cancelledRequest(body);
      if (cancels !== undefined) openRequests.cancel(sessionKey(post), cancels);
      const authInfo = { token: '', clientId: agent.tokenId, scopes: [] };
      asking.set(authInfo, post);
      const response = await handler.fetch(toRequest(post), { authInfo, parsedBody: body });
      if (response.status >= 500) deps.logger.error(trouble);
      if (isInitialize(body) && response.ok) {
        response.headers.set(SESSION_HEADER, sessions.make(agent.tokenId));
      }
      return response;
    },
    /** The stream of an older client, by which it learns that tools changed. Returns a function that leaves it. */
    openStream: (agent: Agent, stream: McpStream) => streams.open(agent.tokenId, stream),
    /** Ends what is open. */
    close,
  };
}

/** Between two announcements: a page that is loaded anew takes its tools away and brings them back. */
const GATHER_MS = 2_000;
/** So many clients of a pool have an entry of their own. */
const MOST_CLIENTS = 16;
/** Lists that are kept for the next call of the same agent. */
const MOST_KEPT = 64;

/** `onChanged`: when tools came, changed or went; of many changes at most once in two seconds (rule MP5). */
function createToolLists(deps: {
  readonly registry: Pick<ToolRegistry, 'list' | 'find' | 'onChange'>;
  readonly clock: Clock;
  readonly onChanged: () => void;
}) {
  const { registry, clock, onChanged } = deps;
  const kept = new Map<string, { allowed: string; list: readonly McpTool[] }>();
  let cancel: (() => void) | undefined;
  /** A change came while the last announcement was too young. */
  let isWaiting = false;
  const announce = () => {
    isWaiting = false;
    cancel = clock.schedule(GATHER_MS, () => {
      cancel = undefined;
      if (isWaiting) announce();
    });
    onChanged();
  };
  const stop = registry.onChange(() => {
    kept.clear();
    if (cancel) isWaiting = true;
    else announce();
  });
  const schemaOf: SchemaOf = (reference) => {
    const best = registry.find(reference)?.best;
    return best && 'schema' in best ? best.schema : undefined;
  };
  return {
    /** Gives what the agent may call now; the same array as long as nothing has changed. */
    of(agent: Agent): readonly McpTool[] {
      const allowed = agent.tools.join(' ');
      const known = kept.get(agent.tokenId);
      if (known?.allowed === allowed) return known.list;
      const list = toMcpTools(registry.list(agent, null, MOST_CLIENTS), schemaOf);
      if (kept.size >= MOST_KEPT) kept.clear();
      kept.set(agent.tokenId, { allowed, list });
      return list;
    },
    stop() {
      stop();
      cancel?.();
    },
  };
}
