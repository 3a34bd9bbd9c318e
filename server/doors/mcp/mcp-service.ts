import type { IncomingHttpHeaders } from 'node:http';
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
