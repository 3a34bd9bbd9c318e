import { keyedId } from '../auth/keyed-id.ts';
import type { Agent } from '../auth/principal.ts';
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

/** One run for an agent, and one for each of its sessions, so that its calls are found together. */
export const runIdOf = ({ agent, sessionId }: AgentSession, key: string): string =>
  keyedId(key, 'run_mcp', [agent.tokenId, sessionId ?? '']);
