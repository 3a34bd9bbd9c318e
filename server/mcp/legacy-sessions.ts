import { createHmac, timingSafeEqual } from 'node:crypto';
import { newSecret } from '../auth/new-secret.ts';

/** The header of MCP up to 2025-11-25, in lower case. */
export const SESSION_HEADER = 'mcp-session-id';

/**
 * Sessions of the old protocol, of which the server keeps nothing: an id is a nonce with its
 * signature, so every good one is a session, after a restart too (rule MP30).
 */
export interface LegacySessions {
  make(agentId: string): string;
  /** Whether it was made here, for this agent. */
  isOf(agentId: string, sessionId: string): boolean;
}

/** `key`: of the data directory. */
export function createLegacySessions(key: string): LegacySessions {
  const sign = (agentId: string, nonce: string): string =>
    createHmac('sha256', key).update(`mcp session\n${agentId}\n${nonce}`).digest('base64url');
  return {
    make(agentId) {
      const nonce = newSecret();
      return `${nonce}.${sign(agentId, nonce)}`;
    },
    isOf(agentId, sessionId) {
      const [nonce = '', signature = ''] = sessionId.split('.');
      const expected = Buffer.from(sign(agentId, nonce));
      const given = Buffer.from(signature);
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}
