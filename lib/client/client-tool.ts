import type { Progress } from '../call/merge-card.ts';
import type { ToolAnnotations, ToolSpec } from '../protocol/tool-spec.ts';
import { given } from '../util/given.ts';

/** A status update of a running call, for people; the model never gets it. */
export interface StatusUpdate {
  readonly tip?: string;
  readonly progress?: Progress;
  /** Any JSON. */
  readonly preview?: unknown;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** A running tool may do this besides returning. It never gets the socket or the journal. */
export interface ClientToolContext {
  readonly callId: string;
  readonly runId: string;
  /**
   * The caller: `operator`, `operator:<name>`, `agent:<name>`, `run:<run id>` for the agent of a
   * conversation, `device:<client id>`. Undefined where the server does not name it.
   */
  readonly requestedBy?: string | undefined;
  /** Aborted, with a `ToolFailure` as its reason, on cancel and when the time is over. */
  readonly signal: AbortSignal;
  /** At most ten a second are sent; of more, the last value of each field is. */
  status(update: StatusUpdate): void;
  /** Reports that a person at this client is being asked, until `ask` ends; the clock stands still. */
  askDevice<T>(ask: () => Promise<T>): Promise<T>;
}

/** Bytes beside a result. */
export interface ToolAttachment {
  readonly blob: Uint8Array | Blob;
  readonly mediaType: string;
  readonly name?: string;
  readonly alt?: string;
}

export interface ClientToolAnswer {
  /** For the model; any JSON. */
  readonly output: unknown;
  /** For people, where that should differ. */
  readonly display?: unknown;
  readonly attachments?: readonly ToolAttachment[];
}

/** A tool as a client offers it. */
export interface ClientToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments; an object schema. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Milliseconds; the server's default when not given. */
  readonly timeoutMs?: number;
  readonly displayName?: string;
  readonly annotations?: ToolAnnotations;
  /** How many calls of it may run at once. Default 1. */
  readonly concurrency?: number;
  /** Throws `ToolFailure` for what can go wrong; anything else thrown is reported as `internal`. */
  run(
    args: Readonly<Record<string, unknown>>,
    context: ClientToolContext,
  ): Promise<ClientToolAnswer> | ClientToolAnswer;
}

/** Tells that a call may be run again when it may have run already (contract, promise P3). */
export const isRepeatable = (tool: Pick<ClientToolDefinition, 'annotations'>): boolean =>
  tool.annotations?.readOnlyHint === true || tool.annotations?.idempotentHint === true;

/** The tool as it is registered. */
export function toToolSpec(tool: ClientToolDefinition): ToolSpec {
  return {
    name: tool.name,
    description: tool.description,
    parameters: { ...tool.parameters },
    ...given({
      timeout_ms: tool.timeoutMs,
      display_name: tool.displayName,
      annotations: tool.annotations,
    }),
  };
}

/** Why a tool failed; the caller gets this code beside the message. */
export type ToolFailureCode =
  /** The person at the client did not want this call, or their rule did not. */
  | 'declined'
  | 'permission_denied'
  | 'unavailable'
  /** A browser permits it only in a person's touch, and there was none. */
  | 'needs_person'
  | 'cancelled'
  | 'timeout'
  | 'invalid_args'
  | 'result_too_large'
  | 'outcome_unknown'
  | 'internal';

/** An expected failure of a tool, worded for the model and for people. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
  readonly code: ToolFailureCode;

  constructor(code: ToolFailureCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Makes a failure of what was thrown: a `ToolFailure` itself, anything else as `internal`. */
export function toToolFailure(thrown: unknown): ToolFailure {
  if (thrown instanceof ToolFailure) return thrown;
  const message = thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
  return new ToolFailure('internal', `The tool failed: ${message}`);
}
