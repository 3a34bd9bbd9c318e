import type { Actor, CallEvent } from '#lib/call/call-event';
import type { CallRecord } from '#lib/call/call-record';
import { type Moment, shownAt } from '#lib/call/clocks';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { actorOf, callerOf, mayDecide, type Principal, principalName } from '../auth/principal.ts';
import { momentOf, type SteadyClock } from '../clock.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';
import type { AlwaysAllowed } from './always-allowed.ts';
import type { CallRepository } from './call-repository.ts';
import type {
  CallActionOutcome,
  CallService,
  InvokeOutcome,
  InvokeRequest,
} from './call-service.ts';
import { type CallersOfCalls, callerOfCall } from './caller-of-call.ts';
import type { Denial } from './check.ts';
import type { CallEngine } from './engine.ts';
import { resolveTarget } from './resolve-target.ts';
import { invalidArgs } from './route-call.ts';
import { shownRepairsOfEdit } from './shown-repairs.ts';

type Actions = Pick<CallService, 'cancel' | 'retry' | 'decide' | 'answer' | 'extend'>;

export interface OperatorActionDeps {
  readonly engine: CallEngine;
  readonly repository: CallRepository;
  readonly registry: ToolRegistry;
  readonly clock: SteadyClock;
  readonly always: Pick<AlwaysAllowed, 'add'>;
  readonly denial: Denial;
  readonly callers: CallersOfCalls;
  invoke(request: InvokeRequest): Promise<InvokeOutcome>;
}

type Decision = Parameters<CallService['decide']>[2];

/** What people do to calls: cancel, retry, approve, answer by hand, give more time. */
export class OperatorActions implements Actions {
  readonly #deps: OperatorActionDeps;

  constructor(deps: OperatorActionDeps) {
    this.#deps = deps;
  }

  async cancel(id: string, reason: string, actor: Actor): Promise<CallActionOutcome> {
    const { repository, engine } = this.#deps;
    const call = await repository.find(id);
    if (!call) return notFound(id);
    // guard: unsent-grant-taken-back
    const isUnsent = engine.hasUnsentStart(id);
    const applied = engine.apply(call, { type: 'cancelled', reason, isUnsent }, actor);
    // Asked twice: the first request stands, and is not an error.
    if (!applied.ok && applied.refusal !== 'cancelling') return alreadyFinal(call);
    return this.#done(id);
  }

  async retry(
    id: string,
    principal: Principal,
    { args, fromClientId, ...more }: Parameters<CallService['retry']>[2] = {},
  ): Promise<CallActionOutcome> {
    const call = await this.#deps.repository.get(id);
    if (!call) return notFound(id);
    if (!isFinalStatus(call.status)) {
      return conflict(`The call ${id} has not ended; cancel it first`);
    }
    const { hasOwnTimeout, fromClientId: before } = call.routing;
    return this.#deps.invoke({
      ...more,
      principal,
      tool: call.toolName,
      runId: call.runId,
      args: args === undefined ? call.args : args,
      retryOf: id,
      fromClientId: fromClientId ?? before ?? undefined,
      ...(hasOwnTimeout ? { timeoutMs: call.timeoutMs } : {}),
      ...(call.wantedClientId === null ? {} : { clientId: call.wantedClientId }),
    });
  }

  async decide(id: string, principal: Principal, decision: Decision): Promise<CallActionOutcome> {
    if (!mayDecide(principal)) return notAPerson(principal);
    const { repository, engine } = this.#deps;
    const call = await repository.find(id);
    if (!call) return notFound(id);
    if (isFinalStatus(call.status)) return alreadyFinal(call);
    if (call.phase !== 'approval') return notWaiting(id);
    if (decision.decision === 'no') {
      const note = decision.note ? `: ${decision.note}` : '';
      const message = `An operator denied the call${note}`;
      const applied = engine.apply(call, { type: 'denied', message }, actorOf(principal));
      return applied.ok ? this.#done(id) : notWaiting(id);
    }
    if (decision.decision === 'always' && call.card.always_rule === null) return neverAlways(call);
    if (isOlder(decision.expiresAt, call, momentOf(this.#deps.clock))) return changedSince(id);
    const edited = this.#editedArgs(call, principal, decision.args);
    if (!edited.ok) return edited;
    const denial = this.#denialOf(call, principal, edited.fields.args ?? call.args);
    return denial ?? this.#approve(call, principal, decision, edited);
  }

  async #approve(
    call: CallRecord,
    principal: Principal,
    { decision, always: terms = {} }: Decision,
    { fields, shown }: Required<Pick<CallEvent, 'fields' | 'shown'>>,
  ): Promise<CallActionOutcome> {
    const { engine, always } = this.#deps;
    const event = { type: 'approved' as const, fields, shown };
    const applied = engine.apply(call, event, actorOf(principal));
    if (!applied.ok) return notWaiting(call.id);
    const isAskedAgain = applied.record.phase === 'approval';
    if (decision === 'always' && !isAskedAgain) {
      await always.add(applied.record, terms, principalName(principal));
    }
    const outcome = await this.#done(call.id);
    return isAskedAgain ? changedSince(call.id) : outcome;
  }

  /** What is denied now, to the one who decides or to the caller, no person allows. */
  #denialOf(
    call: CallRecord,
    principal: Principal,
    args: Record<string, unknown>,
  ): CallActionOutcome | undefined {
    const { registry, denial, callers } = this.#deps;
    const caller = callerOfCall(callers, call);
    if (!caller) return callerRevoked(call);
    const { toolName, runId, routing } = call;
    const clientId = routing.approval?.clientId;
    const target = registry.find(clientId ? `${toolName}@${clientId}` : toolName);
    const tool = target?.source === 'client' ? target.best : target;
    if (!tool) return undefined;
    const asked = { toolName, runId, args, tool };
    const own = denial({ ...asked, principal });
    if (own !== undefined) return denied(own);
    const reason = denial({ ...asked, principal: caller });
    if (reason === undefined) return undefined;
    return denied(`${reason} (${principalName(callerOf(caller))} made the call)`);
  }

  #editedArgs(call: CallRecord, principal: Principal, args: unknown) {
    if (args === undefined) return { ok: true as const, fields: {}, shown: {} };
    const { registry } = this.#deps;
    const { approval, fromClientId } = call.routing;
    const target = {
      tool: call.toolName,
      principal,
      fromClientId: fromClientId ?? undefined,
      ...(call.wantedClientId === null ? {} : { clientId: call.wantedClientId }),
    };
    const asked = approval?.clientId
      ? resolveTarget(registry, { ...target, clientId: approval.clientId })
      : undefined;
    // Its client has left: the edit is checked for the next one, and the question is asked anew.
    const found = asked?.ok ? asked : resolveTarget(registry, target);
    if (!found.ok) return found;
    const checked = found.tool.check(args);
    if (checked.ok) {
      const shown = shownRepairsOfEdit(checked.repairs, call.card);
      return { ok: true as const, fields: { args: checked.args }, shown };
    }
    const { code, message } = invalidArgs(call.toolName, checked.details);
    return { ok: false as const, code, message, details: checked.details };
  }

  async answer(id: string, principal: Principal, output: unknown): Promise<CallActionOutcome> {
    if (!mayDecide(principal)) return notAPerson(principal);
    const { repository, engine } = this.#deps;
    const call = await repository.find(id);
    if (!call) return notFound(id);
    const event = {
      type: 'answered_by_hand',
      fields: { result: output ?? null },
      shown: { tip: 'Answered by an operator' },
    } as const;
    if (!engine.apply(call, event, actorOf(principal)).ok) return alreadyFinal(call);
    return this.#done(id);
  }

  async extend(id: string, principal: Principal, byMs: number): Promise<CallActionOutcome> {
    if (!mayDecide(principal)) return notAPerson(principal);
    const { repository, engine } = this.#deps;
    const call = await repository.find(id);
    if (!call) return notFound(id);
    const applied = engine.apply(call, { type: 'extended', byMs }, actorOf(principal));
    if (applied.ok) return this.#done(id);
    if (applied.refusal === 'already_final') return alreadyFinal(call);
    return conflict(`The execute clock of ${id} does not run now`);
  }

  async #done(id: string): Promise<CallActionOutcome> {
    const { repository } = this.#deps;
    await repository.settled(id);
    const call = await repository.get(id);
    return call ? { ok: true, call } : notFound(id);
  }
}

/**
 * Whether the yes is to a question that has been asked anew since: each has a time of
 * its own, which may be shown in another place since the wall clock was set.
 */
const isOlder = (expiresAt: number | undefined, call: CallRecord, now: Moment): boolean =>
  expiresAt !== undefined &&
  ![call, shownAt(call, now)].some(({ card }) => card.clock?.deadline_at === expiresAt);

const notFound = (id: string): CallActionOutcome => ({
  ok: false,
  code: 'call_not_found',
  message: `No call ${id} is known here`,
});

const alreadyFinal = (call: CallRecord): CallActionOutcome => ({
  ok: false,
  code: 'already_final',
  message: `The call ${call.id} has ended already: ${call.status}`,
});

const denied = (message: string): CallActionOutcome => ({
  ok: false,
  code: 'permission_denied',
  message,
});

const callerRevoked = ({ id }: CallRecord): CallActionOutcome =>
  denied(
    `The call ${id} cannot be allowed any more: the token of its caller was revoked; decide "no" or cancel it`,
  );

/** The last place that can refuse it, after the routes. */
const notAPerson = (principal: Principal): CallActionOutcome =>
  denied(
    `${principalName(principal)} may not decide on calls; that takes a person with the role "operator" or "admin"`,
  );

const conflict = (message: string): CallActionOutcome => ({ ok: false, code: 'conflict', message });

const changedSince = (id: string): CallActionOutcome =>
  conflict(
    `The tool, or the client that would run it, has changed since the call ${id} was shown; look at it again and decide anew`,
  );

const neverAlways = ({ toolName }: CallRecord): CallActionOutcome =>
  conflict(`Calls like this one of ${toolName} are asked about each time; decide "yes" or "no"`);

const notWaiting = (id: string): CallActionOutcome =>
  conflict(`The call ${id} does not wait for an approval`);
