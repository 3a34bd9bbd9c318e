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
import { INVALID_PARAMS, type ToolsCallDeps, timesOf } from './handle-tools-call.ts';
import { takesTasks } from './request-capabilities.ts';
import { taskParamsSchema, toTask } from './tasks.ts';
import { traceOf } from './traced-server.ts';

/**
 * `tasks/get`, `tasks/update` and `tasks/cancel` (rules MP40 to MP44): each for the agent's own
 * calls alone, and for requests that name the extension.
 */
export function addTaskMethods(server: Server, deps: ToolsCallDeps, agent: Agent): void {
  const find = async (taskId: string, context: ServerContext): Promise<CallRecord> => {
    const call = await deps.findCall(agent, taskId);
    if (!call) throw new ProtocolError(INVALID_PARAMS, 'Task not found', { taskId });
    traceOf(context)?.concerns(call);
    return call;
  };
  const schemas = { params: taskParamsSchema };
  server.setRequestHandler('tasks/get', schemas, async ({ taskId }, context) => {
    requireTasks(context);
    const call = await find(taskId, context);
    const inputRequests = deps.questions.of(call, context);
    return { ...(await toTask(call, { ...timesOf(deps), inputRequests }, deps.sources)) };
  });
  // An answer ends a question. It decides nothing about the call: that is up to operators.
  server.setRequestHandler('tasks/update', schemas, async ({ taskId }, context) => {
    requireTasks(context);
    deps.questions.answered((await find(taskId, context)).id, context);
    return {};
  });
  server.setRequestHandler('tasks/cancel', schemas, async ({ taskId }, context) => {
    requireTasks(context);
    await cancelCall(deps, agent, (await find(taskId, context)).id);
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
