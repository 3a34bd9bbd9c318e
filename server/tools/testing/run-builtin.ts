import type { AnyServerTool, ToolContext } from '../define-tool.ts';

/** Runs a tool as the server would, without a server. Gives its output; errors pass through. */
export async function runBuiltin(
  tool: AnyServerTool,
  args: Record<string, unknown>,
  context: Partial<ToolContext> = {},
): Promise<unknown> {
  const answer = await tool.run(args, {
    callId: 'tc_1',
    runId: 'run_1',
    signal: new AbortController().signal,
    status: () => {},
    ...context,
  });
  return answer.output;
}
