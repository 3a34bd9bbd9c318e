import type { ClientToolAnswer, ClientToolContext, ClientToolDefinition } from './client-tool.ts';
import { type Arguments, readArguments, toJsonSchema, type ValuesOf } from './tool-arguments.ts';
import { ToolFailure } from './tool-failure.ts';

export interface TypedClientTool<Args extends Arguments>
  extends Omit<ClientToolDefinition, 'parameters' | 'run'> {
  readonly args: Args;
  run(
    args: ValuesOf<Args>,
    context: ClientToolContext,
  ): Promise<ClientToolAnswer> | ClientToolAnswer;
}

/** A client's tool whose JSON Schema and argument types both come from one description. */
export function defineClientTool<Args extends Arguments>({
  args,
  run,
  ...tool
}: TypedClientTool<Args>): ClientToolDefinition {
  return {
    ...tool,
    parameters: toJsonSchema(args),
    run(given, context) {
      const read = readArguments(args, given);
      if (read.ok) return run(read.values, context);
      throw new ToolFailure(
        'invalid_args',
        `${tool.name} cannot take these arguments: ${read.problem}.`,
      );
    },
  };
}
