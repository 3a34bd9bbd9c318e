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

/** What was thrown, as a failure: a `ToolFailure` itself, anything else as `internal`. */
export function toToolFailure(thrown: unknown): ToolFailure {
  if (thrown instanceof ToolFailure) return thrown;
  const message = thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
  return new ToolFailure('internal', `The tool failed: ${message}`);
}
