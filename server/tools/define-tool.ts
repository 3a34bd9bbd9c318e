import type { z } from 'zod';
import type { Progress } from '#lib/call/merge-card';

/** What a running server tool may do besides returning. Never the socket, never the store. */
export interface ToolContext {
  readonly callId: string;
  readonly runId: string;
  /** Aborted on timeout, on cancel and when the server stops. */
  readonly signal: AbortSignal;
  /** Shows people what is going on. The model never sees it. */
  status(update: { tip?: string; progress?: Progress; preview?: unknown }): void;
}

export interface ToolAnswer {
  /** For the model; any JSON. */
  readonly output: unknown;
  /** For people, where that should differ. */
  readonly display?: unknown;
}

export interface ServerTool<Args extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly args: Args;
  /** `read` may be run again after a crash; `write` ends `outcome_unknown` instead. */
  readonly effect: 'read' | 'write';
  /** Milliseconds. */
  readonly timeoutMs: number;
  /** Throws `ToolError` with the reason for the model; anything else thrown is our defect and reported as one. */
  run(args: z.output<Args>, context: ToolContext): Promise<ToolAnswer>;
}

/** A failure worded for the model. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  /** Whether the tool had begun its work. */
  readonly executed: 'yes' | 'no';

  constructor(message: string, { executed = 'yes' }: { executed?: 'yes' | 'no' } = {}) {
    super(message);
    this.executed = executed;
  }
}

/** A server tool with its argument type forgotten, as the registry holds it. */
export interface AnyServerTool extends Omit<ServerTool, 'run'> {
  run(args: Record<string, unknown>, context: ToolContext): Promise<ToolAnswer>;
}

/** Types `run` by `args`; parses the arguments once more, so that defaults of the schema hold. */
export function defineTool<Args extends z.ZodObject>(tool: ServerTool<Args>): AnyServerTool {
  return {
    ...tool,
    run: (args, context) => tool.run(tool.args.parse(args), context),
  };
}
