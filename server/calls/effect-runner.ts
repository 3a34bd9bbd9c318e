import type { CallRecord } from '#lib/call/call-record';
import type { Effect } from '#lib/call/effects';
import type { ServerMessage } from '#lib/protocol/server-messages';
import { type EventBus, instanceAddress } from '../events/event-bus.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';
import type { PendingReoffers } from './pending-reoffers.ts';
import type { ServerExecutor } from './server-executor.ts';

/** Does what a decision asks for, once what it waits for is on disk. It decides nothing. */
export class EffectRunner {
  readonly #bus: Pick<EventBus, 'deliver'>;
  readonly #registry: Pick<ToolRegistry, 'find'>;
  readonly #executor: ServerExecutor;
  readonly #reoffers: PendingReoffers;
  readonly #onError: (error: unknown) => void;

  constructor(deps: {
    bus: Pick<EventBus, 'deliver'>;
    registry: Pick<ToolRegistry, 'find'>;
    executor: ServerExecutor;
    reoffers: PendingReoffers;
    onError(error: unknown): void;
  }) {
    this.#bus = deps.bus;
    this.#registry = deps.registry;
    this.#executor = deps.executor;
    this.#reoffers = deps.reoffers;
    this.#onError = deps.onError;
  }

  run(effect: Effect, call: CallRecord): void {
    switch (effect.type) {
      case 'request':
        return this.#request(call);
      case 'run':
        return this.#start(call);
      case 'stop':
        return this.#stop(call, effect.reason);
      case 'reoffer':
        return this.#reoffers.add(call, effect.neverStarted);
      case 'grant':
      case 'route':
        // Answered by who claimed; done by the engine within the write.
        return;
    }
  }

  #request(call: CallRecord): void {
    // fault point: before-offer
    this.#send(call, toRequest(call));
    // fault point: offered
  }

  #start(call: CallRecord): void {
    const target = this.#registry.find(call.toolName);
    if (target?.source !== 'server') throw new Error(`No server tool ${call.toolName} to run`);
    this.#executor.run(call, target.tool);
  }

  #stop(call: CallRecord, reason: string): void {
    if (call.source === 'server') this.#executor.abort(call.id, reason);
    else this.#send(call, { type: 'tool_call_cancel', id: call.id, reason });
  }

  /** To the instance that the call is pinned to. */
  #send({ provider }: CallRecord, message: ServerMessage): void {
    if (!provider) return;
    const address = instanceAddress(provider.clientId, provider.instanceId);
    // Without an inbox its socket has closed, and the resume clock of the call takes over.
    this.#bus.deliver(address, { type: 'send', message }).catch(this.#onError);
  }
}

const toRequest = (call: CallRecord): ServerMessage => ({
  type: 'tool_call_request',
  id: call.id,
  name: call.toolName,
  args: { ...call.args },
  run_id: call.runId,
  attempt: call.provider?.attempt ?? 0,
  timeout_ms: call.timeoutMs,
});
