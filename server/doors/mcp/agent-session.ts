import { LIMITS } from '#lib/protocol/limits';
import { type Agent, keyedId } from '../../auth/room.ts';

/** Who asks in one request of MCP, and as what its calls are recorded. */
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
  /** To how many it came. */
  readonly resizeRoom: (bytes: number) => void;
}

/** Of all pictures, sounds and texts of a result: it is one JSON text. */
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
