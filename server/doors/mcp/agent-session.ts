import type { IncomingHttpHeaders } from 'node:http';
import type { ServerContext } from '@modelcontextprotocol/server';
import { isRecord } from '#lib/json/is-record';
import { LIMITS } from '#lib/protocol/limits';
import { TASKS } from '#lib/protocol/mcp-tasks';
import { type Agent, keyedId } from '../../auth/room.ts';

/** One request of MCP comes from an agent, in a session where it names one. */
export interface AgentSession extends AnswerRoom {
  readonly agent: Agent;
  /** Its signed id; undefined in the protocol of 2026-07-28, which has none. */
  readonly sessionId: string | undefined;
}

/** Two programs of one token may use the same ids of requests. */
export const sessionKey = ({
  agent,
  sessionId,
}: Pick<AgentSession, 'agent' | 'sessionId'>): string => `${agent.tokenId} ${sessionId ?? ''}`;

const MOST_KEPT = 1_000;

/**
 * One run for an agent, and one for each of its sessions, so that its calls are found together.
 * `key`: of the data directory, so that no caller can make the id of another's run.
 */
export function createRunIds(key: string): (session: AgentSession) => string {
  const kept = new Map<string, string>();
  return (session) => {
    const name = sessionKey(session);
    const { agent, sessionId = '' } = session;
    const id = kept.get(name) ?? keyedId(key, 'run_mcp', [agent.tokenId, sessionId]);
    if (kept.size >= MOST_KEPT) kept.clear();
    kept.set(name, id);
    return id;
  };
}

/** The room of one answer among the large ones of the server (rule UN4). */
export interface AnswerRoom {
  /** Resolves when an answer with so many bytes may be made; throws `rate_limited` when too many wait. */
  readonly makeRoom: (bytes: number) => Promise<void>;
  /** The answer came to so many bytes. */
  readonly resizeRoom: (bytes: number) => void;
}

/** All pictures, sounds and texts of a result are one JSON text, and bound together. */
export const BLOCKS_BYTES = 6 * 1024 * 1024;

/** A smaller record is read at once. */
const SMALL_BYTES = 256 * 1024;

/**
 * To be awaited before a record is read that has so many bytes in the store: a large one has its
 * room, and that of the files of its answer, since room is taken once (rule MP53).
 */
export async function roomToRead({ makeRoom }: AnswerRoom, storedBytes: number): Promise<void> {
  if (storedBytes < SMALL_BYTES) return;
  // One of the files at a time is whole in memory, before it is made smaller.
  await makeRoom(storedBytes + BLOCKS_BYTES + LIMITS.attachmentBytes);
}

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

/** A handler knows this of its request, beside the parameters. */
export interface AskedRequest {
  readonly mcpReq: Pick<ServerContext['mcpReq'], 'id' | 'signal' | '_meta' | 'envelope' | 'notify'>;
}

/** The client's capabilities, as this request declares them: in 2026-07-28 each does. */
export function capabilitiesOf({ mcpReq }: AskedRequest): Readonly<Record<string, unknown>> {
  const envelope: unknown = mcpReq.envelope;
  const capabilities = isRecord(envelope) ? envelope[CAPABILITIES] : undefined;
  return isRecord(capabilities) ? capabilities : {};
}

/** The client of this request takes a task in place of a result. */
export function takesTasks(request: AskedRequest): boolean {
  const { extensions } = capabilitiesOf(request);
  return isRecord(extensions) && TASKS in extensions;
}

/**
 * Requests of the old protocol that are not answered, so that a later message can cancel one. They
 * are bounded by the requests of a token that may be open. The id of a request has a type: 1 is not
 * "1".
 */
export function createOpenRequests() {
  const open = new Map<string, AbortController>();
  const keyOf = (session: string, id: string | number) => `${session}\n${typeof id}\n${id}`;
  return {
    /** `signal` aborts when the request is cancelled; `close` once it is answered. */
    open(session: string, requestId: string | number) {
      const key = keyOf(session, requestId);
      const controller = new AbortController();
      open.set(key, controller);
      const close = () => {
        if (open.get(key) === controller) open.delete(key);
      };
      return { signal: controller.signal, close };
    },
    /** Does nothing where no such request is open. */
    cancel: (session: string, requestId: string | number) =>
      open.get(keyOf(session, requestId))?.abort(),
  };
}

export type OpenRequests = ReturnType<typeof createOpenRequests>;

/** One POST, whose credential and body were checked; `body` is JSON that was parsed. */
export interface McpPost extends AgentSession {
  readonly headers: IncomingHttpHeaders;
  /** Aborts when the caller hangs up. */
  readonly signal: AbortSignal;
  readonly body: unknown;
}

/** The notifications of a session go there. */
export interface McpStream {
  send(text: string): void;
  end(): void;
}
