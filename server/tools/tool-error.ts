import type { CallError } from '#lib/protocol/call-status';

/**
 * `no_provider`: what would run it is not there. `denied`: what was allowed is not what would run.
 * `outcome_unknown`: what ran it was lost before it answered.
 */
type ToolErrorCode =
  | 'tool_error'
  | 'result_invalid'
  | 'result_too_large'
  | 'no_provider'
  | 'denied'
  | 'outcome_unknown';

interface ToolErrorOptions extends Pick<CallError, 'reason' | 'params'> {
  readonly executed?: CallError['executed'];
  readonly code?: ToolErrorCode;
}

/** A failure worded for the model. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  /** It says if the tool had begun its work. */
  readonly executed: CallError['executed'];
  readonly code: ToolErrorCode;
  /** For pages, which show it in their language. */
  readonly cases: Pick<CallError, 'reason' | 'params'>;

  constructor(
    message: string,
    { executed = 'yes', code = 'tool_error', ...cases }: ToolErrorOptions = {},
  ) {
    super(message);
    this.executed = executed;
    this.code = code;
    this.cases = cases;
  }
}

/** The error of a call that was not run, with what is in its way. */
export const refusal = (message: string): ToolError => new ToolError(message, { executed: 'no' });

/** Why a running tool is stopped, with the name of who cancelled its call, where someone did. */
export class StoppedError extends ToolError {
  readonly stoppedBy: string | undefined;

  constructor(message: string, stoppedBy?: string) {
    super(message);
    this.stoppedBy = stoppedBy;
  }
}
