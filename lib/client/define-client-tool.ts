import { z } from 'zod';
import type { ClientToolAnswer, ClientToolContext, ClientToolDefinition } from './client-tool.ts';
import { ToolFailure } from './tool-failure.ts';

export interface TypedClientTool<Args extends z.ZodObject>
  extends Omit<ClientToolDefinition, 'parameters' | 'run'> {
  readonly args: Args;
  run(
    args: z.output<Args>,
    context: ClientToolContext,
  ): Promise<ClientToolAnswer> | ClientToolAnswer;
}

/** A client's tool whose JSON Schema and argument types both come from one zod object. */
export function defineClientTool<Args extends z.ZodObject>({
  args,
  run,
  ...tool
}: TypedClientTool<Args>): ClientToolDefinition {
  const { $schema: _dialect, ...parameters } = z.toJSONSchema(args, { io: 'input' });
  return {
    ...tool,
    parameters,
    run(given, context) {
      const parsed = args.safeParse(given);
      if (parsed.success) return run(parsed.data, context);
      const problem = z.prettifyError(parsed.error);
      throw new ToolFailure('invalid_args', `${tool.name} cannot take these arguments: ${problem}`);
    },
  };
}
