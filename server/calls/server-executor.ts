import type { CallRecord } from '#lib/call/call-record';
import type { CallError } from '#lib/protocol/call-status';
import type { CardUpdate } from '#lib/protocol/card';
import type { Logger } from '../logger.ts';
import { type AnyServerTool, ToolError } from '../tools/define-tool.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';
import type { Outcome } from './finished-here.ts';
import type { ToolProvider } from './tool-provider.ts';

/** What a tool answers goes to `finish`, once for each start; again, as a failure, when that could not take it. */
export interface ServerExecutor extends ToolProvider {
  stopAll(reason: string): void;
}

/** Runs the server's own tools. It knows neither clocks nor the record's life. */
export function createServerExecutor(deps: {
  registry: Pick<ToolRegistry, 'find'>;
  publishStatus(callId: string, update: CardUpdate): void;
  finish(callId: string, outcome: Outcome): Promise<void>;
  logger: Logger;
}): ServerExecutor {
  const running = new Map<string, AbortController>();

  async function execute(record: CallRecord, tool: AnyServerTool, controller: AbortController) {
    try {
      const answer = await tool.run(
        { ...record.args },
        {
          callId: record.id,
          runId: record.runId,
          signal: controller.signal,
          status: (update) => deps.publishStatus(record.id, update),
        },
      );
      await deps.finish(record.id, { answer });
    } catch (error) {
      const cancelled = controller.signal.aborted;
      if (!(error instanceof ToolError) && !cancelled)
        deps.logger.error(error, `${tool.name} failed`);
      await deps.finish(record.id, { error: toCallError(error, cancelled) });
    } finally {
      running.delete(record.id);
    }
  }

  return {
    start(record) {
      const target = deps.registry.find(record.toolName);
      if (target?.source !== 'server') throw new Error(`No server tool ${record.toolName} to run`);
      const controller = new AbortController();
      running.set(record.id, controller);
      void execute(record, target.tool, controller);
    },
    stop({ id }, reason) {
      running.get(id)?.abort(new ToolError(reason));
    },
    stopAll(reason) {
      for (const controller of running.values()) controller.abort(new ToolError(reason));
    },
  };
}

function toCallError(error: unknown, cancelled: boolean): CallError {
  if (cancelled) {
    return { code: 'cancelled', message: 'Stopped while it was running', executed: 'unknown' };
  }
  if (error instanceof ToolError) {
    return { code: 'tool_error', message: error.message, executed: error.executed };
  }
  return {
    code: 'tool_error',
    message: 'The tool failed in a way that it does not explain; the server log says more',
    executed: 'unknown',
  };
}
