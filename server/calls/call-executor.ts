import type { Call } from '#lib/call/call';
import type { Effect } from '#lib/call/effects';
import type { ServerMessage } from '#lib/protocol/server-messages';
import { isOfClient } from '#lib/protocol/tool-source';
import type { Logger } from '../base/logger.ts';
import { type EventBus, instanceAddress } from '../events/room.ts';
import { traceparentOf } from '../telemetry/room.ts';
import type { CallIndex } from './call-index.ts';

type Args = Call['args'];

/**
 * Runs calls: inside the server, or by asking a client. The engine's effects go to
 * the one that the record says, and nothing of the engine depends on which
 * that is. It decides nothing: what becomes of a call comes back as an event.
 */
export interface CallExecutor {
  /** Starts the call, or asks the client that it is pinned to. Called once for each attempt. */
  start(call: Call): void;
  /**
   * What looks at arguments that are still being written; undefined where the tool has none. Nothing
   * of the call is decided, so that nothing may be done.
   */
  partialOf?(call: Call): ((args: Args) => void | Promise<void>) | undefined;
  /** Asks to stop it; also of a call that has not started, or has ended. */
  stop(call: Call, reason: string): void;
}

export interface CallExecutors {
  /** For the tools of every `ToolProvider`. */
  readonly inside: CallExecutor;
  readonly clients: CallExecutor;
}

export const executorOf = (
  { inside, clients }: CallExecutors,
  call: Pick<Call, 'source'>,
): CallExecutor => (isOfClient(call) ? clients : inside);

/** The tools of clients: requests go to the instance that the call is pinned to, wherever it is connected. */
export function createClientTools(deps: {
  readonly bus: Pick<EventBus, 'deliver'>;
  readonly isTracing: boolean;
  readonly logger: Logger;
}): CallExecutor {
  const { bus, isTracing, logger } = deps;
  function send({ provider }: Call, message: ServerMessage): void {
    if (!provider) return;
    const address = instanceAddress(provider.clientId, provider.instanceId);
    // Without an inbox its socket has closed, and the resume clock of the call takes over.
    bus.deliver(address, { type: 'send', message }).catch(logger.error);
  }
  return {
    start: (call) => send(call, toRequest(call, traceparentOf(call, isTracing))),
    stop: (call, reason) => send(call, { type: 'tool_call_cancel', id: call.id, reason }),
  };
}

const toRequest = (call: Call, traceparent: string | undefined): ServerMessage => ({
  type: 'tool_call_request',
  id: call.id,
  name: call.toolName,
  args: { ...call.args },
  run_id: call.runId,
  attempt: call.provider?.attempt ?? 0,
  timeout_ms: call.timeoutMs,
  requested_by: call.requestedBy,
  ...(traceparent !== undefined && { traceparent }),
});

/** Does what a decision asks for, once what it waits for is on disk. It decides nothing. */
export function runEffect(
  effect: Effect,
  call: Call,
  { executors, index }: { executors: CallExecutors; index: CallIndex },
): void {
  switch (effect.type) {
    case 'request':
      // fault point: before-offer
      executorOf(executors, call).start(call);
      // fault point: offered
      return;
    case 'run':
      return executorOf(executors, call).start(call);
    case 'stop':
      return executorOf(executors, call).stop(call, effect.reason);
    case 'reoffer':
      return index.addReoffer(call, effect.neverStarted);
    case 'grant':
    case 'route':
      // Answered by who claimed; done by the engine within the write.
      return;
  }
}
