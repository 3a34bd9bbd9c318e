import type { CallStatus } from '#lib/protocol/call-status';

/** Of an ended call what its statistics need; its values are not read. */
export interface EndedUse {
  readonly id: string;
  readonly toolName: string;
  readonly clientId: string | null;
  readonly status: CallStatus;
  readonly startedAt: number | null;
  readonly endedAt: number;
  readonly code: string | null;
  /** The tool's own word for the kind of error. */
  readonly clientCode: string | null;
  /** At most 300 characters. */
  readonly message: string | null;
}

export interface ToolUse {
  /** Ended calls, the newest first, of all or of one token's holder. Throws `StoreBusyError`. */
  recent(query: { ownerToken?: string; limit: number }): Promise<EndedUse[]>;
}
