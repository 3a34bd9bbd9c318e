import { createHmac, timingSafeEqual } from 'node:crypto';
import { FairMap } from '#lib/util/fair-map';
import { newSecret } from '../auth/new-secret.ts';

/** The header of MCP up to 2025-11-25, in lower case. */
export const SESSION_HEADER = 'mcp-session-id';

/** Of sessions that their clients ended: older ones count again, as after a restart. */
const MOST_ENDED = 1_000;

/**
 * Sessions of the old protocol, of which the server keeps nothing while they last: an id is a nonce
 * with its signature, so every good one is a session, after a restart too (rule MP30).
 */
export interface LegacySessions {
  make(agentId: string): string;
  /** Whether it was made here, for this agent, and was not ended. */
  isOf(agentId: string, sessionId: string): boolean;
  /** Of one that `isOf` accepts. */
  end(agentId: string, sessionId: string): void;
}

/** `key`: of the data directory. */
export function createLegacySessions(key: string): LegacySessions {
  const sign = (agentId: string, nonce: string): string =>
    createHmac('sha256', key).update(`mcp session\n${agentId}\n${nonce}`).digest('base64url');
  const ended = new FairMap<true>(MOST_ENDED);
  return {
    make(agentId) {
      const nonce = newSecret();
      return `${nonce}.${sign(agentId, nonce)}`;
    },
    isOf(agentId, sessionId) {
      const [nonce = '', signature = '', ...more] = sessionId.split('.');
      if (more.length > 0 || ended.get(sessionId)) return false;
      const expected = Buffer.from(sign(agentId, nonce));
      const given = Buffer.from(signature);
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
    end(agentId, sessionId) {
      ended.put(agentId, sessionId, true);
    },
  };
}
