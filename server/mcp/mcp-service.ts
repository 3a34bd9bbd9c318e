import type { IncomingHttpHeaders } from 'node:http';
import type { Agent } from '../auth/room.ts';
import type { AgentSession } from './agent-session.ts';

/** One POST, whose credential and body were checked; `body` is JSON that was parsed. */
export interface McpPost extends AgentSession {
  readonly headers: IncomingHttpHeaders;
  /** Aborts when the caller hangs up. */
  readonly signal: AbortSignal;
  readonly body: unknown;
}

/** Where the notifications of a session go. */
export interface McpStream {
  send(text: string): void;
  end(): void;
}

/** What the path `/mcp` needs: both generations of MCP over HTTP, 2026-07-28 and those before it. */
export interface McpService {
  /** Whether the id was made here for this agent. */
  isSession(agent: Agent, sessionId: string): boolean;
  /** Ends a session; it is not one any more. */
  endSession(agent: Agent, sessionId: string): void;
  /** Answers one message, by JSON or by what may be a stream, which ends no sooner than the call. */
  answer(post: McpPost): Promise<Response | { readonly json: object }>;
  /** The stream of an older client, by which it learns that tools changed. Returns a function that leaves it. */
  openStream(agent: Agent, stream: McpStream): () => void;
  /** Ends what is open. */
  close(): Promise<void>;
}
