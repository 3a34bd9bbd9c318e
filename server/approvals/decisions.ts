import { ANY_ARGUMENTS, isBound, problemOfBound } from '#lib/approval/bound-arguments';
import { type ApprovalTerms, isQuestion } from '#lib/call/approval-terms';
import type { Call } from '#lib/call/call';
import type { Actor, CallEvent } from '#lib/call/call-event';
import {
  alreadyFinal,
  type CallActionOutcome,
  conflict,
  type InvokeRefusal,
  invalidArgs,
  notFound,
  notWaiting,
  reject,
  secretsMissing,
} from '#lib/call/call-outcome';
import type { Objection, Rejected } from '#lib/call/call-state';
import { shownRepairsOfEdit } from '#lib/call/view';
import type { CardUpdate } from '#lib/protocol/card';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { given } from '#lib/util/given';
import { actorOf, callerOf, mayDecide, type Principal, principalName } from '../auth/room.ts';
import type { Withholding } from '../secrets/room.ts';
import type { OfferedTool, ToolRegistry } from '../tools/room.ts';
import type { AlwaysAllowed, AlwaysTerms } from './always-allowed.ts';
import { bindOperands, forOther, withOperands } from './bound-operands.ts';
import { type CallersOfCalls, callerOfCall } from './caller-of-call.ts';
import type { CheckEdit, Denial, ToolFacts } from './check.ts';
import type { OpenApprovals } from './open-approvals.ts';

/** The calls, which their own room changes. */
export interface DecidedCalls {
  /** The newest decided state of an open or recent call. */
  latest(id: string): Call | undefined;
  /** The same, and from the store when memory has it no more. */
  find(id: string): Promise<Call | undefined>;
  /** The call once all that was decided of it is on disk. */
  settled(id: string): Promise<Call | undefined>;
  /** Decides at once on the newest state. */
  apply(
    call: Call,
    event: CallEvent,
    actor: Actor,
  ): { readonly ok: true; readonly record: Call } | Rejected;
  /** Why an event would be refused now; undefined: it would not. */
  refusalOf(call: Call, event: CallEvent): Rejected | undefined;
  /** The tool that would be asked now, as far as `principal` may call it. */
  resolve(asked: {
    readonly tool: string;
    readonly clientId?: string;
    readonly fromClientId: string | undefined;
    readonly principal: Principal;
  }): { readonly ok: true; readonly tool: OfferedTool } | InvokeRefusal;
}

interface DecisionDeps {
  readonly calls: DecidedCalls;
  readonly registry: Pick<ToolRegistry, 'find'>;
  readonly always: AlwaysAllowed;
  readonly open: OpenApprovals;
  readonly policy: { readonly checkEdit: CheckEdit; readonly denial: Denial };
  readonly withholding: Withholding;
  readonly callers: CallersOfCalls;
}

/** A person says this to a call that waits for approval. */
export interface Decision {
  readonly decision: 'yes' | 'no' | 'always';
  readonly note?: string;
  readonly args?: unknown;
  /** It is that of the approval that was shown, in seconds. */
  readonly expiresAt?: number;
  /** So many equal calls were shown to wait. */
  readonly calls?: number;
  /** It is given with `always`. */
  readonly always?: AlwaysTerms;
}

type Approval = Pick<CallEvent, 'fields' | 'shown'> & { readonly terms: ApprovalTerms };

/** It shows on the card whose decision it was, where the call waited for one. */
type DecidingEvent = CallEvent & { readonly shown: CardUpdate };

/** Arguments that a person wrote in place of the call's, and the tool that they were checked for. */
interface Edit {
  readonly args: Call['args'];
  readonly shown: CardUpdate;
  readonly tool: OfferedTool;
}

/** People approve calls, answer them by hand, and give them more time. */
export class Decisions {
  readonly #deps: DecisionDeps;

  constructor(deps: DecisionDeps) {
    this.#deps = deps;
  }

  async decide(id: string, principal: Principal, decision: Decision): Promise<CallActionOutcome> {
    if (!mayDecide(principal)) return notAPerson(principal);
    const call = await this.#deps.calls.find(id);
    if (!call) return notFound(id);
    if (decision.decision === 'no') return this.#deny(call, principal, decision.note);
    const terms: ApprovalTerms = {
      isAlways: decision.decision === 'always',
      expiresAt: decision.expiresAt,
      shownCalls: decision.calls,
      calls: this.#deps.open.sameAs(call).length,
    };
    // A wrong decision is refused before a wrong edit.
    const refused = this.#deps.calls.refusalOf(call, { type: 'approved', terms });
    if (refused) return this.#refused(call, refused);
    const edit =
      decision.args === undefined ? undefined : this.#edit(call, principal, decision.args);
    if (edit?.ok === false) return edit;
    const problem = this.#problemOfRule(call, decision, edit);
    if (problem !== undefined) return reject('invalid_args', problem);
    const objection = this.#objectionTo(call, principal, edit);
    return edit && !objection
      ? this.#approveEdited(call, principal, decision, edit, terms)
      : this.#approve(call, principal, decision, { terms: { ...terms, objection } });
  }

  async #approve(
    call: Call,
    principal: Principal,
    { decision, args, always: rule = {} }: Decision,
    { fields = {}, shown = {}, terms }: Approval,
  ): Promise<CallActionOutcome> {
    const { always } = this.#deps;
    const edited = args === undefined ? {} : { edited: true };
    const approval_decision = { by: principalName(principal), decision, ...edited };
    const event = { type: 'approved' as const, fields, shown: { ...shown, approval_decision } };
    const applied = this.#apply(call, event, principal, terms);
    if (!applied.ok) return this.#refused(call, applied);
    const isAskedAgain = applied.record.phase === 'approval';
    const caller = call.card.always_rule?.caller;
    const isWritten = decision === 'always' && caller && !isAskedAgain;
    const written =
      isWritten && (await always.add(applied.record, caller, rule, principalName(principal)));
    const outcome = await this.#done(call.id);
    if (isAskedAgain) return changedSince(call.id);
    return outcome.ok && written ? { ...outcome, ruleId: written.id } : outcome;
  }

  /** Why the rule that a person wants cannot be written (CA81). */
  #problemOfRule(
    call: Call,
    { decision, always: { bound = ANY_ARGUMENTS } = {} }: Decision,
    edit: Pick<Edit, 'args' | 'tool'> | undefined,
  ): string | undefined {
    const { withholding } = this.#deps;
    const offer = call.card.always_rule;
    if (decision !== 'always' || !offer) return undefined;
    const args = edit?.args ?? withholding.restored(call).args;
    // Rules are stored, and shown to all who decide; and what fits would tell a short secret.
    const secret = isBound(bound) ? withholding.secretNames(call, args, edit?.tool) : [];
    if (
      bound.arguments.some(({ name }) => secret.includes(name)) ||
      withholding.hidden(call, bound) !== bound
    ) {
      return 'A rule cannot be bound to an argument that is secret';
    }
    return problemOfBound(offer, bound, args);
  }

  /** A hook looks at what a person wrote as at what a model did (PO17). */
  async #approveEdited(
    call: Call,
    principal: Principal,
    decision: Decision,
    { args, shown, tool }: Edit,
    terms: ApprovalTerms,
  ): Promise<CallActionOutcome> {
    const { policy, callers, calls } = this.#deps;
    const caller = callerOfCall(callers, call);
    const asking = caller && policy.checkEdit({ ...asCalled(call), principal: caller, args, tool });
    const hooked = asking && (await asking);
    const fields = { args: hooked?.args ?? args };
    // Without a wait where there is none, so that of two decisions the first counts.
    const { operands } = tool;
    const bound = operands && (await bindOperands(operands, fields.args));
    const latest = calls.latest(call.id) ?? call;
    const isUnbound = bound !== undefined && 'error' in bound;
    const hooks = hooked && { hooks: [...(latest.card.hooks ?? []), ...hooked.notes] };
    const objection =
      hooked?.verdict?.effect === 'deny'
        ? deniedFor(hooked.verdict.reason)
        : isUnbound
          ? ({ refusal: 'unbound', problem: bound.error.message } as const)
          : this.#objectionTo(latest, principal, { args: fields.args, tool });
    return this.#approve(latest, principal, decision, {
      fields: !bound || isUnbound ? fields : withOperands(fields, latest.routing, bound.routing),
      shown: { ...shown, ...hooks, ...(!isUnbound && bound?.shown) },
      // Decided, or asked anew, meanwhile, it is refused.
      terms: { ...terms, version: call.version, objection },
    });
  }

  async #deny(call: Call, principal: Principal, note = ''): Promise<CallActionOutcome> {
    const did = isQuestion(call) ? 'A person declined to answer' : 'An operator denied the call';
    const message = `${did}${note && `: ${note}`}`;
    const by = principalName(principal);
    const approval_decision = { by, decision: 'no' as const, ...(note && { note }) };
    const event = { type: 'denied' as const, message, shown: { approval_decision } };
    const applied = this.#apply(call, event, principal);
    return applied.ok ? this.#done(call.id) : this.#refused(call, applied);
  }

  /** What is decided of a call is decided of all that wait for the same decision: it may be alone. */
  #apply(
    call: Call,
    decided: DecidingEvent,
    principal: Principal,
    terms?: ApprovalTerms,
  ): ReturnType<DecidedCalls['apply']> {
    const { calls, open } = this.#deps;
    const [, ...others] = open.sameAs(calls.latest(call.id) ?? call);
    const event = others.length > 0 ? withNumber(decided, others.length + 1) : decided;
    const first = event.type === 'approved' ? { ...event, terms } : event;
    const applied = calls.apply(call, first, actorOf(principal));
    if (!applied.ok) return applied;
    for (const id of others) {
      const other = calls.latest(id);
      if (other) calls.apply(other, forOther(event, other), actorOf(principal));
    }
    return applied;
  }

  #refused(call: Call, { refusal, problem = '' }: Rejected): CallActionOutcome {
    const { calls, open } = this.#deps;
    switch (refusal) {
      case 'unanswered':
        return toBeAnswered(call);
      case 'wrong_answer':
        return { ok: false, code: 'invalid_args', message: problem };
      case 'never_always':
        return neverAlways(call);
      case 'changed_since':
        return changedSince(call.id);
      case 'more_than_shown':
        return moreThanShown(open.sameAs(call).length);
      case 'denied':
        return denied(problem);
      case 'unbound':
        return conflict(problem);
      default: {
        // Another decision, or the end of the call, came first.
        const now = calls.latest(call.id) ?? call;
        return isFinalStatus(now.status) ? alreadyFinal(now) : notWaiting(now);
      }
    }
  }

  /** No person allows what is denied now, to the one who decides or to the caller. */
  #objectionTo(
    call: Call,
    principal: Principal,
    edit: Pick<Edit, 'args' | 'tool'> | undefined,
  ): Objection | undefined {
    const { policy, callers, withholding } = this.#deps;
    const caller = callerOfCall(callers, call);
    if (!caller) return deniedFor(callerRevoked(call));
    const { args, tool } = edit ?? {
      args: withholding.restored(call).args,
      tool: this.#toolOf(call),
    };
    const asked = { ...asCalled(call), args, tool };
    // The one who decides does so over HTTP, however the call came.
    const own = policy.denial({ ...asked, principal, via: undefined });
    if (own !== undefined) return deniedFor(own);
    const reason = policy.denial({ ...asked, principal: caller });
    if (reason === undefined) return undefined;
    return deniedFor(`${reason} (${principalName(callerOf(caller))} made the call)`);
  }

  /** While no one offers it, the tool as the call has it: what is away is judged like what is there. */
  #toolOf({ toolName, routing, ...call }: Call): ToolFacts {
    const clientId = routing.approval?.clientId ?? null;
    const reference = clientId === null ? toolName : `${toolName}@${clientId}`;
    const { source, toolProvider, trusted, annotations } = call;
    return (
      this.#deps.registry.find(reference)?.best ?? {
        origin: { source, toolProvider, ...given({ trusted }) },
        clientId,
        annotations,
        schemaHash: routing.schemaHash ?? '',
        unchecked: call.card.args_unchecked ? ['#'] : undefined,
      }
    );
  }

  #edit(call: Call, principal: Principal, edited: unknown) {
    const { calls, withholding } = this.#deps;
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
      ? calls.resolve({ ...target, clientId: approval.clientId })
      : undefined;
    // Its client has left: the edit is checked for the next one, and the question is asked anew.
    const found = asked?.ok ? asked : calls.resolve(target);
    if (!found.ok) return found;
    const checked = found.tool.check(args);
    if (checked.ok) {
      const shown = shownRepairsOfEdit(checked.repairs, call.card);
      return { ok: true as const, args: checked.args, shown, tool: found.tool };
    }
    const { code, message } = invalidArgs(call.toolName, checked.details);
    return { ok: false as const, code, message, details: checked.details };
  }

  /** An operator answers by hand in place of the tool. */
  async answer(id: string, principal: Principal, output: unknown): Promise<CallActionOutcome> {
    if (!mayDecide(principal)) return notAPerson(principal);
    const call = await this.#deps.calls.find(id);
    if (!call) return notFound(id);
    const approval_decision = { by: principalName(principal), decision: 'answer' } as const;
    const event = { type: 'answered_by_hand', fields: { result: output ?? null } } as const;
    const shown = {
      ...(!isQuestion(call) && { tip: 'Answered by an operator' }),
      // A call that waits for a decision has got one; else the decision of before stays on the card.
      ...(call.phase === 'approval' && { approval_decision }),
    };
    const applied = this.#apply(call, { ...event, shown }, principal);
    return applied.ok ? this.#done(id) : this.#refused(call, applied);
  }

  /** Gives a running call more time on its execute clock. */
  async extend(id: string, principal: Principal, byMs: number): Promise<CallActionOutcome> {
    if (!mayDecide(principal)) return notAPerson(principal);
    const { calls } = this.#deps;
    const call = await calls.find(id);
    if (!call) return notFound(id);
    const applied = calls.apply(call, { type: 'extended', byMs }, actorOf(principal));
    if (applied.ok) return this.#done(id);
    if (applied.refusal === 'already_final') return alreadyFinal(call);
    return conflict(`The execute clock of ${id} does not run now`);
  }

  async #done(id: string): Promise<CallActionOutcome> {
    const call = await this.#deps.calls.settled(id);
    return call ? { ok: true, call } : notFound(id);
  }
}

const asCalled = ({ toolName, runId, routing: { via } }: Call) => ({ toolName, runId, via });

/** An equal call may come between what was shown and the decision: how many it decided is shown. */
const withNumber = ({ shown, ...event }: DecidingEvent, calls: number): DecidingEvent => {
  const { approval_decision } = shown;
  return {
    ...event,
    shown: {
      ...shown,
      ...(approval_decision && { approval_decision: { ...approval_decision, calls } }),
    },
  };
};

const deniedFor = (problem: string): Objection => ({ refusal: 'denied', problem });

const denied = (message: string): CallActionOutcome => ({
  ok: false,
  code: 'permission_denied',
  message,
});

const callerRevoked = ({ id }: Call): string =>
  `The call ${id} cannot be allowed any more: the token of its caller was revoked; decide "no" or cancel it`;

const toBeAnswered = ({ id }: Call): CallActionOutcome =>
  conflict(
    `The call ${id} is a question: POST /v1/tool_calls/${id}/answer answers it, decision "no" declines`,
  );

/** The last place that can refuse it, after the routes. */
const notAPerson = (principal: Principal): CallActionOutcome =>
  denied(
    `${principalName(principal)} may not decide on calls; that takes a person with the role "operator" or "admin"`,
  );

const changedSince = (id: string): CallActionOutcome =>
  conflict(
    `The tool, or the client that would run it, has changed since the call ${id} was shown; look at it again and decide anew`,
  );

/** One decision is that of all of them: those that came since were not seen. */
const moreThanShown = (waiting: number): CallActionOutcome =>
  conflict(
    `By now ${waiting} equal calls wait for this decision, more than were shown; look again and decide anew`,
  );

const neverAlways = ({ toolName }: Call): CallActionOutcome =>
  conflict(`Calls like this one of ${toolName} are asked about each time; decide "yes" or "no"`);
