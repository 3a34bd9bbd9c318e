import { keyedId } from '../auth/keyed-id.ts';
import type { Agent } from '../auth/principal.ts';

/** Who asks in one request of MCP, and as what its calls are recorded. */
export interface AgentSession {
  readonly agent: Agent;
  /** Its signed id; undefined in the protocol of 2026-07-28, which has none. */
  readonly sessionId: string | undefined;
  /** Resolves when an answer with so many bytes may be made; throws `rate_limited` when too many wait (UN4). */
  readonly makeRoom: (bytes: number) => Promise<void>;
}

/** Two programs of one token may use the same ids of requests. */
export const sessionKey = ({ agent, sessionId }: Omit<AgentSession, 'makeRoom'>): string =>
  `${agent.tokenId} ${sessionId ?? ''}`;

/** One run for an agent, and one for each of its sessions, so that its calls are found together. */
export const runIdOf = ({ agent, sessionId }: AgentSession, key: string): string =>
  keyedId(key, 'run_mcp', [agent.tokenId, sessionId ?? '']);
