import type { Call } from '#lib/call/call';
import type { ServerMessage } from '#lib/protocol/server-messages';
import type { Logger } from '../base/logger.ts';
import { type EventBus, instanceAddress } from '../events/room.ts';
import { traceparentOf } from '../telemetry/room.ts';
import type { CallExecutor } from './call-executor.ts';

/** The tools of clients: requests go to the instance that the call is pinned to, wherever it is connected. */
export class ClientTools implements CallExecutor {
  readonly #bus: Pick<EventBus, 'deliver'>;
  readonly #logger: Logger;
  readonly #isTracing: boolean;

  constructor(deps: { bus: Pick<EventBus, 'deliver'>; isTracing: boolean; logger: Logger }) {
    this.#bus = deps.bus;
    this.#isTracing = deps.isTracing;
    this.#logger = deps.logger;
  }

  start(call: Call): void {
    this.#send(call, toRequest(call, traceparentOf(call, this.#isTracing)));
  }

  stop(call: Call, reason: string): void {
    this.#send(call, { type: 'tool_call_cancel', id: call.id, reason });
  }

  #send({ provider }: Call, message: ServerMessage): void {
    if (!provider) return;
    const address = instanceAddress(provider.clientId, provider.instanceId);
    // Without an inbox its socket has closed, and the resume clock of the call takes over.
    this.#bus.deliver(address, { type: 'send', message }).catch(this.#logger.error);
  }
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
