import { FIRST_OPERATOR } from '../../auth/principal.ts';
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
    principal: FIRST_OPERATOR,
    ownerToken: null,
    signal: new AbortController().signal,
    status: () => {},
    attach: () => Promise.reject(new Error('no files here')),
    ...context,
  });
  return answer.output;
}
