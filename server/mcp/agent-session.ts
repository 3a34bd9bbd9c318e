import { type Agent, keyedId } from '../auth/room.ts';
import type { AnswerRoom } from './answer-room.ts';

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
