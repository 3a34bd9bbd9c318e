import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { CallRecord } from '#lib/call/call-record';
import { TASKS } from '#lib/protocol/mcp-tasks';
import type { Agent } from '../auth/principal.ts';
import { cancelCall } from './call-tool.ts';
import { INVALID_PARAMS, type ToolsCallDeps, takesTasks, timesOf } from './handle-tools-call.ts';
import { taskParamsSchema, toTask } from './tasks.ts';

/**
 * `tasks/get`, `tasks/update` and `tasks/cancel` (rules MP40 to MP44): each for the agent's own
 * calls alone, and for requests that name the extension.
 */
export function addTaskMethods(server: Server, deps: ToolsCallDeps, agent: Agent): void {
  const find = async (taskId: string): Promise<CallRecord> => {
    const call = await deps.findCall(agent, taskId);
    if (!call) throw new ProtocolError(INVALID_PARAMS, 'Task not found', { taskId });
    return call;
  };
  const schemas = { params: taskParamsSchema };
  server.setRequestHandler('tasks/get', schemas, async ({ taskId }, context) => {
    requireTasks(context);
    return { ...(await toTask(await find(taskId), timesOf(deps), deps.sources)) };
  });
  // No task of ours asks for input, so there is nothing that an answer could be for.
  server.setRequestHandler('tasks/update', schemas, async ({ taskId }, context) => {
    requireTasks(context);
    await find(taskId);
    return {};
  });
  server.setRequestHandler('tasks/cancel', schemas, async ({ taskId }, context) => {
    requireTasks(context);
    await cancelCall(deps, agent, (await find(taskId)).id);
    return {};
  });
}

/** Before the parameters are looked at, so that a client learns what it lacks. */
function requireTasks(context: ServerContext): void {
  if (takesTasks(context)) return;
  throw new MissingRequiredClientCapabilityError({
    requiredCapabilities: { extensions: { [TASKS]: {} } },
  });
}
