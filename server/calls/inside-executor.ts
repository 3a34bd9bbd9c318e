import type { Call } from '#lib/call/call';
import type { Attachment } from '#lib/protocol/attachment';
import type { CallError } from '#lib/protocol/call-status';
import type { CardUpdate } from '#lib/protocol/card';
import { LIMITS } from '#lib/protocol/limits';
import { type CallersOfCalls, callerOfCall } from '../approvals/room.ts';
import type { Logger } from '../base/logger.ts';
import type { BlobStore } from '../blobs/room.ts';
import { traceparentOf } from '../telemetry/room.ts';
import {
  StoppedError,
  type ToolAnswer,
  type ToolContext,
  ToolError,
  type ToolProvider,
  type ToolRegistry,
} from '../tools/room.ts';
import type { CallExecutor } from './call-executor.ts';
import { hasOtherTerms, isClientTool, referenceOf } from './offered-tool.ts';
import type { Outcome } from './result-filter.ts';

/** Each answer of a tool goes to `finish`, once for each start; again, as a failure, when that could not take it. */
export interface InsideExecutor extends CallExecutor {
  stopAll(reason: string): void;
}

interface InsideExecutorDeps {
  readonly registry: Pick<ToolRegistry, 'find'>;
  readonly callers: CallersOfCalls;
  readonly blobs: Pick<BlobStore, 'put'>;
  publishStatus(callId: string, update: CardUpdate): void;
  /** The same while the arguments are still being written. */
  sketch(callId: string, update: CardUpdate): void;
  /** The tool of the call, which was given so long, is at work. */
  prolong(callId: string, ownMs: number, mostMs: number): void;
  finish(callId: string, outcome: Outcome): Promise<void>;
  readonly logger: Logger;
  readonly isTracing: boolean;
  /** Takes out of a text what is secret of the call. */
  hiderOf(callId: string): (text: string) => string;
}

/** Runs the tools of all providers. It knows neither clocks nor the record's life. */
export function createInsideExecutor(deps: InsideExecutorDeps): InsideExecutor {
  const running = new Map<string, AbortController>();

  async function execute(record: Call, controller: AbortController) {
    const files = createAttachedFiles(deps.blobs, controller.signal);
    try {
      const answer = await run(deps, record, files.attach, controller.signal);
      await deps.finish(record.id, { answer, attachments: files.attached() });
    } catch (error) {
      const cancelled = controller.signal.aborted;
      if (!(error instanceof ToolError) && !cancelled)
        deps.logger.error(
          ...([error, `${record.toolName} failed`, deps.hiderOf(record.id)] as const),
          { tool_call_id: record.id, run_id: record.runId },
        );
      // A failure has its pictures, too: often they show why.
      const attachments = cancelled ? [] : files.attached();
      await deps.finish(record.id, { error: toCallError(error, cancelled), attachments });
    } finally {
      running.delete(record.id);
    }
  }

  return {
    start(record) {
      const controller = new AbortController();
      running.set(record.id, controller);
      void execute(record, controller);
    },
    partialOf({ id, runId, toolName }) {
      const tool = deps.registry.find(toolName)?.best;
      const look = tool && !isClientTool(tool) && tool.provider.partialOf?.(toolName);
      if (!look) return undefined;
      const status = (update: CardUpdate) => deps.sketch(id, update);
      return (args) => look(args, { callId: id, runId, status });
    },
    stop({ id, card }, reason) {
      running.get(id)?.abort(new StoppedError(reason, card.cancelled_by));
    },
    stopAll(reason) {
      for (const controller of running.values()) controller.abort(new ToolError(reason));
    },
  };
}

async function run(
  { registry, callers, publishStatus, prolong, isTracing }: InsideExecutorDeps,
  record: Call,
  attach: ToolContext['attach'],
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const { id: callId, runId, ownerToken } = record;
  const principal = callerOfCall(callers, record);
  if (!principal) throw new ToolError(CALLER_REVOKED, { executed: 'no' });
  const execute = resumptionOf(registry, record) ?? executionOf(registry, record);
  const status: ToolContext['status'] = (update) => publishStatus(callId, update);
  const { operands, hasOwnTimeout } = record.routing;
  const traceparent = traceparentOf(record, isTracing);
  const caller = { callId, runId, principal, ownerToken, traceparent };
  const context: ToolContext = {
    ...caller,
    signal,
    status,
    attach,
    operands,
    prolong: (mostMs) => hasOwnTimeout || prolong(callId, record.timeoutMs, mostMs),
  };
  return execute(context);
}

/** Gives what runs the call from its beginning. */
function executionOf(
  registry: InsideExecutorDeps['registry'],
  record: Call,
): (context: ToolContext) => Promise<ToolAnswer> {
  const { fromClientId, schemaHash } = record.routing;
  const target = registry.find(referenceOf(record), fromClientId);
  const [same] = (schemaHash !== null && target?.withSchema(schemaHash)) || [];
  const tool = same ?? target?.best;
  // Between the decision and the start its provider may have changed it.
  if (!tool || isClientTool(tool) || hasOtherTerms(tool, record))
    throw new ToolError(CHANGED, { executed: 'no', code: 'no_provider' });
  return (context) => tool.provider.execute(record.toolName, record.args, context);
}

const CALLER_REVOKED = 'The token in whose name the call was made was revoked; it was not run.';

const CHANGED =
  'The tool changed or left before the call began; it was not run. Look at the tools again.';

function toCallError(error: unknown, cancelled: boolean): CallError {
  if (cancelled) {
    const executed = error instanceof ToolError && error.executed === 'no' ? 'no' : 'unknown';
    return { code: 'cancelled', message: 'Stopped while it was running', executed };
  }
  if (error instanceof ToolError) {
    const { code, message, executed, cases } = error;
    return { code, message, executed, ...cases };
  }
  return {
    code: 'tool_error',
    message: 'The tool failed in a way that it does not explain; the server log says more',
    executed: 'unknown',
  };
}

/** The files that a running tool gives with its result, in that order. */
export function createAttachedFiles(blobs: Pick<BlobStore, 'put'>, signal: AbortSignal) {
  const attached: Attachment[] = [];
  let taken = 0;
  let given = 0;
  const attach: ToolContext['attach'] = async (file) => {
    signal.throwIfAborted();
    if (taken >= LIMITS.attachmentsPerResult) {
      throw new ToolError(`A result may have ${LIMITS.attachmentsPerResult} attachments at most.`);
    }
    taken += 1;
    const place = given++;
    const put = await blobs.put(file);
    if (!put.ok) {
      // A file that is not kept takes no room from the next.
      taken -= 1;
      throw new ToolError(put.message);
    }
    attached[place] = put.attachment;
    return put.attachment;
  };
  // One that could not be kept leaves no gap.
  return { attach, attached: (): readonly Attachment[] => attached.filter(() => true) };
}

/** What takes up a call that ran when the server stopped, where its work goes on outside. */
export function resumptionOf(
  registry: Pick<ToolRegistry, 'find'>,
  call: Call,
): ReturnType<NonNullable<ToolProvider['resume']>> {
  const tool = registry.find(referenceOf(call), call.routing.fromClientId)?.best;
  if (!tool || isClientTool(tool) || tool.origin.toolProvider !== call.toolProvider)
    return undefined;
  return tool.provider.resume?.(call.id);
}
