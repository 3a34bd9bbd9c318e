import type { Call } from '#lib/call/call';
import type { CallEvent } from '#lib/call/call-event';
import type { Attachment } from '#lib/protocol/attachment';
import type { CallError } from '#lib/protocol/call-status';
import type { CardUpdate } from '#lib/protocol/card';
import { LIMITS } from '#lib/protocol/limits';
import { callerOfCall } from '../approvals/room.ts';
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
import type { CallParts } from './call-parts.ts';
import { type Outcome, toFiltered, toFinished } from './result-filter.ts';
import { hasOtherTerms, isClientTool, referenceOf } from './router.ts';

/** Runs the tools of all providers. `parts`: they are built after it, and needed when a call runs. */
export function createInsideExecutor(
  parts: () => CallParts,
): CallExecutor & { stopAll(reason: string): void } {
  const running = new Map<string, AbortController>();

  /** Each answer is taken once for each start; again, as a failure, when it could not be. */
  async function execute(record: Call, controller: AbortController) {
    const { blobs, repository, withholding, logger } = parts();
    const files = createAttachedFiles(blobs, controller.signal);
    try {
      const answer = await run(parts(), record, files.attach, controller.signal);
      await finish(parts(), record.id, { answer, attachments: files.attached() });
    } catch (error) {
      const cancelled = controller.signal.aborted;
      if (!(error instanceof ToolError) && !cancelled) {
        const hide = withholding.hiderOf(repository.latest(record.id)?.args ?? {});
        const about = { tool_call_id: record.id, run_id: record.runId };
        logger.error(error, `${record.toolName} failed`, hide, about);
      }
      // A failure has its pictures, too: often they show why.
      const attachments = cancelled ? [] : files.attached();
      await finish(parts(), record.id, { error: toCallError(error, cancelled), attachments });
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
      const { registry, engine } = parts();
      const tool = registry.find(toolName)?.best;
      const look = tool && !isClientTool(tool) && tool.provider.partialOf?.(toolName);
      if (!look) return undefined;
      const status = (update: CardUpdate) => engine.sketch(id, update);
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
  { registry, callers, engine, repository, isTracing }: CallParts,
  record: Call,
  attach: ToolContext['attach'],
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const { id: callId, runId, ownerToken } = record;
  const principal = callerOfCall(callers, record);
  if (!principal) throw new ToolError(CALLER_REVOKED, { executed: 'no' });
  const execute = resumptionOf(registry, record) ?? executionOf(registry, record);
  const status: ToolContext['status'] = (update) => engine.status(callId, update);
  const { operands, hasOwnTimeout } = record.routing;
  const traceparent = traceparentOf(record, isTracing);
  const caller = { callId, runId, principal, ownerToken, traceparent };
  const context: ToolContext = {
    ...caller,
    signal,
    status,
    attach,
    operands,
    prolong(mostMs) {
      const call = hasOwnTimeout ? undefined : repository.latest(callId);
      const more = { type: 'extended', ownMs: record.timeoutMs, mostMs } as const;
      if (call) engine.apply(call, more, 'server');
    },
  };
  return execute(context);
}

/** Gives what runs the call from its beginning. */
function executionOf(
  registry: CallParts['registry'],
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

async function finish(parts: CallParts, id: string, outcome: Outcome): Promise<void> {
  const { engine, repository } = parts;
  const ended = endOf(parts, repository.latest(id), outcome);
  const event = ended instanceof Promise ? await ended : ended;
  // A call that the stopping server cut short is taken up again by the next start.
  const call = parts.isStopped ? undefined : repository.latest(id);
  if (call) engine.apply(call, event, 'server');
}

/** Hooks look at what the server's own tool came to. */
const endOf = (
  { results, withholding }: CallParts,
  call: Call | undefined,
  outcome: Outcome,
): CallEvent | Promise<CallEvent> =>
  call && results?.isFor(call.toolName)
    ? toFiltered(results, call, withholding.hidden(call, outcome))
    : toFinished(outcome);

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
