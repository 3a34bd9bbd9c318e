/** `no_provider`: what would run it is not there. */
type ToolErrorCode = 'tool_error' | 'result_invalid' | 'no_provider';

interface ToolErrorOptions {
  readonly executed?: 'yes' | 'no';
  readonly code?: ToolErrorCode;
}

/** A failure worded for the model. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  /** Whether the tool had begun its work. */
  readonly executed: 'yes' | 'no';
  readonly code: ToolErrorCode;

  constructor(message: string, { executed = 'yes', code = 'tool_error' }: ToolErrorOptions = {}) {
    super(message);
    this.executed = executed;
    this.code = code;
  }
}
