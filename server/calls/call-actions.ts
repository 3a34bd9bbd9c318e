import type { Actor } from '#lib/call/call-event';
import {
  alreadyFinal,
  type CallActionOutcome,
  conflict,
  notFound,
  secretsMissing,
} from '#lib/call/call-outcome';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { Principal } from '../auth/room.ts';
import type { CallParts } from './call-parts.ts';
import type { CallService } from './call-service.ts';
import type { Invocation } from './invoke.ts';

/** Callers and people cancel calls, and make them again. */
export class CallActions {
  readonly #deps: CallParts;
  readonly #invocation: Invocation;

  constructor(deps: CallParts, invocation: Invocation) {
    this.#deps = deps;
    this.#invocation = invocation;
  }

  async cancel(id: string, reason: string, actor: Actor, by?: string): Promise<CallActionOutcome> {
    const { repository, engine } = this.#deps;
    const call = await repository.find(id);
    if (!call) return notFound(id);
    // guard: unsent-grant-taken-back
    const isUnsent = engine.hasUnsentStart(id);
    const shown = by === undefined ? {} : { shown: { cancelled_by: by } };
    const applied = engine.apply(call, { type: 'cancelled', reason, isUnsent, ...shown }, actor);
    // Asked twice: the first request stands, and is not an error.
    if (!applied.ok && applied.refusal !== 'cancelling') {
      return alreadyFinal(repository.latest(id) ?? call);
    }
    await repository.settled(id);
    const ended = await repository.get(id);
    return ended ? { ok: true, call: ended } : notFound(id);
  }

  async retry(
    id: string,
    principal: Principal,
    { args, clientId, fromClientId, ...more }: Parameters<CallService['retry']>[2] = {},
  ): Promise<CallActionOutcome> {
    const call = await this.#deps.repository.get(id);
    if (!call) return notFound(id);
    if (!isFinalStatus(call.status)) {
      return conflict(`The call ${id} has not ended; cancel it first`);
    }
    const whole = this.#deps.withholding.forRetry(call, principal, args);
    if (whole === undefined) return secretsMissing(call);
    const { hasOwnTimeout, fromClientId: before } = call.routing;
    const wanted = clientId ?? call.wantedClientId;
    return this.#invocation.invoke({
      ...more,
      principal,
      tool: call.toolName,
      runId: call.runId,
      args: whole,
      retryOf: id,
      fromClientId: fromClientId ?? before ?? undefined,
      ...(hasOwnTimeout ? { timeoutMs: call.timeoutMs } : {}),
      ...(wanted === null ? {} : { clientId: wanted }),
    });
  }
}
