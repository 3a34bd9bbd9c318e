/** The tools that give a task to a sub-agent, with the argument that names it; no client may take their names. */
const AGENT_ARGUMENT = { delegate: 'agent', new_task: 'agentName' } as const;

export type DelegatingTool = keyof typeof AGENT_ARGUMENT;

export const isDelegatingTool = (toolName: string): toolName is DelegatingTool =>
  Object.hasOwn(AGENT_ARGUMENT, toolName);

/** Whose work a call is, as far as its arguments have come; undefined for a tool that gives none. */
export function agentOf(
  toolName: string,
  args: Readonly<Record<string, unknown>>,
): string | undefined {
  if (!isDelegatingTool(toolName)) return undefined;
  const agent = args[AGENT_ARGUMENT[toolName]];
  return typeof agent === 'string' ? agent : '';
}

/** The run that a sub-agent's call made. */
export const childRunOf = (callId: string): string => `run_${callId.replace(/^tc_/, '')}`;
