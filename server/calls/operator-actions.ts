import type { CallEvent } from '#lib/call/call-event';
import type { CallRecord } from '#lib/call/call-record';
import { type Moment, shownAt } from '#lib/call/clocks';
import type { Card, CardUpdate } from '#lib/protocol/card';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { checkAnswer, questionSchema } from '#lib/protocol/question';
import { given } from '#lib/util/given';
import { actorOf, callerOf, mayDecide, type Principal, principalName } from '../auth/principal.ts';
import { momentOf, type SteadyClock } from '../base/clock.ts';
import type { OfferedTool, ToolRegistry } from '../tools/tool-registry.ts';
import {
  alreadyFinal,
  callerRevoked,
  changedSince,
  conflict,
  denied,
  moreThanShown,
  neverAlways,
  notAPerson,
  notFound,
  notWaiting,
  secretsMissing,
  toBeAnswered,
} from './action-refusals.ts';
import type { AlwaysAllowed } from './always-allowed.ts';
import { bindOperands, forOther, withOperands } from './bound-operands.ts';
import type { CallIndex } from './call-index.ts';
import type { CallRepository } from './call-repository.ts';
import type {
  CallActionOutcome,
  CallService,
  InvokeOutcome,
  InvokeRequest,
} from './call-service.ts';
import { type CallersOfCalls, callerOfCall } from './caller-of-call.ts';
import type { CheckEdit, Denial, ToolFacts } from './check.ts';
import type { Applied, CallEngine } from './engine.ts';
import { resolveTarget } from './resolve-target.ts';
import { invalidArgs } from './route-call.ts';
import { shownRepairsOfEdit } from './shown-repairs.ts';
import type { Withholding } from './withholding.ts';

type Actions = Pick<CallService, 'cancel' | 'retry' | 'decide' | 'answer' | 'extend'>;

export interface OperatorActionDeps {
  readonly engine: CallEngine;
  readonly repository: CallRepository;
  readonly registry: ToolRegistry;
  readonly clock: SteadyClock;
  readonly always: Pick<AlwaysAllowed, 'add'>;
  readonly index: Pick<CallIndex, 'approvals'>;
  readonly policy: { readonly checkEdit: CheckEdit; readonly denial: Denial };
  readonly withholding: Withholding;
  readonly callers: CallersOfCalls;
  invoke(request: InvokeRequest): Promise<InvokeOutcome>;
}

type Decision = Parameters<CallService['decide']>[2];

/** It shows on the card whose decision it was. */
type DecidingEvent = CallEvent & {
  readonly shown: CardUpdate & { approval_decision: NonNullable<Card['approval_decision']> };
};

/** Arguments that a person wrote in place of the call's, and the tool that they were checked for. */
interface Edit {
  readonly args: CallRecord['args'];
  readonly shown: CardUpdate;
  readonly tool: OfferedTool;
}

/** What people do to calls: cancel, retry, approve, answer by hand, give more time. */
export class OperatorActions implements Actions {
  readonly #deps: OperatorActionDeps;

  constructor(deps: OperatorActionDeps) {
    this.#deps = deps;
  }

  async cancel(...[id, reason, actor, by]: Parameters<Actions['cancel']>) {
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
    return this.#done(id);
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
    return this.#deps.invoke({
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

  async decide(id: string, principal: Principal, decision: Decision): Promise<CallActionOutcome> {
    if (!mayDecide(principal)) return notAPerson(principal);
    const call = await this.#deps.repository.find(id);
    if (!call) return notFound(id);
    if (isFinalStatus(call.status)) return alreadyFinal(call);
    if (call.phase !== 'approval') return notWaiting(call);
    if (decision.decision === 'no') return this.#deny(call, principal, decision.note);
    if (isQuestion(call)) return toBeAnswered(call);
    if (decision.decision === 'always' && !call.card.always_rule?.caller) return neverAlways(call);
    if (isOlder(decision.expiresAt, call, momentOf(this.#deps.clock))) return changedSince(id);
    const { length: waiting } = this.#deps.index.approvals.sameAs(call);
    if (waiting > (decision.calls ?? waiting)) return moreThanShown(waiting);
    const edit =
      decision.args === undefined ? undefined : this.#edit(call, principal, decision.args);
    if (edit?.ok === false) return edit;
    const denial = this.#denialOf(call, principal, edit);
    if (denial) return denial;
    return edit
      ? this.#approveEdited(call, principal, decision, edit)
      : this.#approve(call, principal, decision, { fields: {}, shown: {} });
  }

  async #approve(
    call: CallRecord,
    principal: Principal,
    { decision, args, always: terms = {} }: Decision,
    { fields, shown }: Required<Pick<CallEvent, 'fields' | 'shown'>>,
  ): Promise<CallActionOutcome> {
    const { always } = this.#deps;
    const edited = args === undefined ? {} : { edited: true };
    const approval_decision = { by: principalName(principal), decision, ...edited };
    const event = { type: 'approved' as const, fields, shown: { ...shown, approval_decision } };
    const applied = this.#applyToAll(call, event, principal);
    if (!applied.ok) return this.#tooLate(call);
    const isAskedAgain = applied.record.phase === 'approval';
    const caller = call.card.always_rule?.caller;
    if (decision === 'always' && caller && !isAskedAgain) {
      await always.add(applied.record, caller, terms, principalName(principal));
    }
    const outcome = await this.#done(call.id);
    return isAskedAgain ? changedSince(call.id) : outcome;
  }

  /** A hook looks at what a person wrote as at what a model did (PO17). */
  async #approveEdited(
    call: CallRecord,
    principal: Principal,
    decision: Decision,
    { args, shown, tool }: Edit,
  ): Promise<CallActionOutcome> {
    const { policy, callers, repository } = this.#deps;
    const caller = callerOfCall(callers, call);
    if (!caller) return callerRevoked(call);
    const asking = policy.checkEdit({ ...asCalled(call), principal: caller, args, tool });
    const hooked = asking && (await asking);
    const fields = { args: hooked?.args ?? args };
    // Without a wait where there is none, so that of two decisions the first counts.
    const { operands } = tool;
    const bound = operands && (await bindOperands(operands, fields.args));
    const latest = repository.latest(call.id) ?? call;
    // Decided, or asked anew, meanwhile.
    if (latest.phase !== 'approval') return this.#tooLate(latest);
    if (latest.routing !== call.routing) return changedSince(call.id);
    if (hooked?.verdict?.effect === 'deny') return denied(hooked.verdict.reason);
    if (bound && 'error' in bound) return conflict(bound.error.message);
    const denial = this.#denialOf(latest, principal, { args: fields.args, tool });
    if (denial) return denial;
    const hooks = hooked && { hooks: [...(latest.card.hooks ?? []), ...hooked.notes] };
    return this.#approve(latest, principal, decision, {
      fields: bound ? withOperands(fields, latest.routing, bound.routing) : fields,
      shown: { ...shown, ...hooks, ...bound?.shown },
    });
  }

  async #deny(call: CallRecord, principal: Principal, note = ''): Promise<CallActionOutcome> {
    const did = isQuestion(call) ? 'A person declined to answer' : 'An operator denied the call';
    const message = `${did}${note && `: ${note}`}`;
    const by = principalName(principal);
    const approval_decision = { by, decision: 'no' as const, ...(note && { note }) };
    const event = { type: 'denied' as const, message, shown: { approval_decision } };
    return this.#applyToAll(call, event, principal).ok ? this.#done(call.id) : this.#tooLate(call);
  }

  /** Whatever was decided of a call is decided of those that wait for the same decision. */
  #applyToAll(call: CallRecord, one: DecidingEvent, principal: Principal): Applied {
    const { engine, repository, index } = this.#deps;
    const all = index.approvals.sameAs(repository.latest(call.id) ?? call);
    const [, ...others] = all;
    const event = all.length > 1 ? withNumber(one, all.length) : one;
    const applied = engine.apply(call, event, actorOf(principal));
    if (!applied.ok) return applied;
    for (const id of others) {
      const other = repository.latest(id);
      if (other) engine.apply(other, forOther(event, other), actorOf(principal));
    }
    return applied;
  }

  /** Another decision, or the end of the call, came first. */
  #tooLate(call: CallRecord): CallActionOutcome {
    const now = this.#deps.repository.latest(call.id) ?? call;
    return isFinalStatus(now.status) ? alreadyFinal(now) : notWaiting(now);
  }

  /** What is denied now, to the one who decides or to the caller, no person allows. */
  #denialOf(
    call: CallRecord,
    principal: Principal,
    edit: Pick<Edit, 'args' | 'tool'> | undefined,
  ): CallActionOutcome | undefined {
    const { policy, callers, withholding } = this.#deps;
    const caller = callerOfCall(callers, call);
    if (!caller) return callerRevoked(call);
    const { args, tool } = edit ?? {
      args: withholding.restored(call).args,
      tool: this.#toolOf(call),
    };
    const asked = { ...asCalled(call), args, tool };
    // The one who decides does so over HTTP, however the call came.
    const own = policy.denial({ ...asked, principal, via: undefined });
    if (own !== undefined) return denied(own);
    const reason = policy.denial({ ...asked, principal: caller });
    if (reason === undefined) return undefined;
    return denied(`${reason} (${principalName(callerOf(caller))} made the call)`);
  }

  /** While no one offers it, the tool as the call has it: what is away is judged like what is there. */
  #toolOf({ toolName, routing, ...call }: CallRecord): ToolFacts {
    const clientId = routing.approval?.clientId ?? null;
    const reference = clientId === null ? toolName : `${toolName}@${clientId}`;
    const { source, toolProvider, trusted, annotations } = call;
    return (
      this.#deps.registry.find(reference)?.best ?? {
        origin: { source, toolProvider, ...given({ trusted }) },
        clientId,
        annotations,
        schemaHash: routing.schemaHash ?? '',
      }
    );
  }

  #edit(call: CallRecord, principal: Principal, edited: unknown) {
    const { registry, withholding } = this.#deps;
    const args = withholding.filled(call, edited);
    if (args === undefined) return secretsMissing(call);
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
      return { ok: true as const, args: checked.args, shown, tool: found.tool };
    }
    const { code, message } = invalidArgs(call.toolName, checked.details);
    return { ok: false as const, code, message, details: checked.details };
  }

  async answer(id: string, principal: Principal, output: unknown): Promise<CallActionOutcome> {
    if (!mayDecide(principal)) return notAPerson(principal);
    const { repository, engine } = this.#deps;
    const call = await repository.find(id);
    if (!call) return notFound(id);
    if (isQuestion(call)) return this.#answerQuestion(call, principal, output);
    const by = principalName(principal);
    // What waits for a decision has got one; else the decision of before stays on the card.
    const isDecision = call.phase === 'approval';
    const approval_decision = { by, decision: 'answer' } as const;
    const event = {
      type: 'answered_by_hand',
      fields: { result: output ?? null },
      shown: { tip: 'Answered by an operator', ...(isDecision && { approval_decision }) },
    } as const;
    if (!engine.apply(call, event, actorOf(principal)).ok) {
      return alreadyFinal(repository.latest(id) ?? call);
    }
    return this.#done(id);
  }

  /** The first answer counts, for each call that waits for the same (CA60). */
  async #answerQuestion(
    call: CallRecord,
    principal: Principal,
    given: unknown,
  ): Promise<CallActionOutcome> {
    if (call.phase !== 'approval') return this.#tooLate(call);
    const checked = checkAnswer(questionSchema.parse(call.args), given);
    if (!checked.ok) return { ok: false, code: 'invalid_args', message: checked.problem };
    const by = principalName(principal);
    const event = {
      type: 'answered_by_hand',
      fields: { result: { answer: checked.answer, answered_by: 'person' } },
      shown: { approval_decision: { by, decision: 'answer' } },
    } as const;
    return this.#applyToAll(call, event, principal).ok ? this.#done(call.id) : this.#tooLate(call);
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

const asCalled = ({ toolName, runId, routing: { via } }: CallRecord) => ({ toolName, runId, via });

/** An equal call may come between what was shown and the decision: how many it decided is shown. */
const withNumber = ({ shown, ...event }: DecidingEvent, calls: number): DecidingEvent => ({
  ...event,
  shown: { ...shown, approval_decision: { ...shown.approval_decision, calls } },
});

/**
 * Whether the yes is to a question that has been asked anew since: each has a time of
 * its own, which may be shown in another place since the wall clock was set.
 */
const isOlder = (expiresAt: number | undefined, call: CallRecord, now: Moment): boolean =>
  expiresAt !== undefined &&
  ![call, shownAt(call, now)].some(({ card }) => card.clock?.deadline_at === expiresAt);

const isQuestion = ({ card }: CallRecord): boolean => card.question !== undefined;
