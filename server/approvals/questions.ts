import { isBound } from '#lib/approval/bound-arguments';
import type { ApprovalScope, Call, Routing } from '#lib/call/call';
import type { ActorName, CallEvent, EventFields } from '#lib/call/call-event';
import { sameJson } from '#lib/json/equal';
import type { CallError } from '#lib/protocol/call-status';
import type { CardUpdate } from '#lib/protocol/card';
import type { Question } from '#lib/protocol/question';
import { isTrusted } from '#lib/protocol/tool-source';
import { withEllipsis } from '#lib/text/with-ellipsis';
import { given } from '#lib/util/given';
import type { Principal } from '../auth/room.ts';
import type { Withholding } from '../secrets/room.ts';
import { type OfferedTool, ToolError } from '../tools/room.ts';
import { type AlwaysAllowed, alwaysCaller, alwaysOffer, type RuleUse } from './always-allowed.ts';
import { bindOperands, withOperands } from './bound-operands.ts';
import type { Check, CheckRequest, CheckVerdict, Denial } from './check.ts';
import { approvalKey } from './open-approvals.ts';

/** There are too many such calls now; one more may be made in `retryAfter` seconds. */
export interface RateLimited {
  readonly type: 'rate_limited';
  readonly message: string;
  readonly retryAfter: number;
}

/** The event that a verdict makes of a call. */
export interface Decided {
  readonly type: 'decided';
  readonly event: CallEvent;
  /** The hook that caused it; undefined: the caller. */
  readonly by: ActorName | undefined;
  /** The rule that allows it, whose use is counted in the write of the event, or released. */
  readonly use?: RuleUse | undefined;
}

/** A call, who makes it, and the tool that would be asked now. */
interface Asked {
  readonly call: Call;
  readonly principal: Principal;
  readonly tool: OfferedTool;
}

type PolicyOutcome = Decided | RateLimited;

/** A card or a list shows so much of a question in a line. */
const REASON_CHARS = 300;

interface QuestionsDeps {
  readonly check: Check;
  readonly denial: Denial;
  readonly always: AlwaysAllowed;
  readonly withholding: Withholding;
  readonly facts: Facts;
  /** How long a person has to decide, where that is not ten minutes. */
  readonly approvalMs: number | undefined;
}

/** The policy's verdict on a call whose arguments are complete, as the event that it makes of it, and what a person is asked. */
export class Questions {
  readonly #deps: QuestionsDeps;
  readonly #waits: Pick<Routing, 'approvalMs'>;

  constructor(deps: QuestionsDeps) {
    this.#deps = deps;
    this.#waits = given({ approvalMs: deps.approvalMs });
  }

  /**
   * `tool` is the one whose schema the arguments were checked against; it would be asked now.
   * Without a promise where the check has none.
   */
  eventFor(
    call: Call,
    principal: Principal,
    tool: OfferedTool,
    fields: EventFields = {},
  ): PolicyOutcome | Promise<PolicyOutcome> {
    const { runId, toolName, routing } = call;
    const { via } = routing;
    const args = fields.args ?? call.args;
    const asked = { call, principal, tool };
    const request = { principal, toolName, args, runId, via, tool };
    const denied = this.#deniedTo(request);
    if (denied !== undefined) return this.#toOutcome(asked, fields, denied);
    const verdict = this.#deps.check(request);
    return verdict instanceof Promise
      ? verdict.then((given) => this.#toOutcome(asked, fields, given))
      : this.#toOutcome(asked, fields, verdict);
  }

  /** A person who is denied something does not get it by writing in the run of another. */
  #deniedTo(request: CheckRequest): CheckVerdict | undefined {
    const { principal } = request;
    if (principal.kind !== 'run' || !principal.askedBy) return undefined;
    const { runId, askedBy: owner } = principal;
    const reason = this.#deps.denial({ ...request, principal: { kind: 'run', runId, owner } });
    return reason === undefined ? undefined : { verdict: 'deny', reason };
  }

  #toOutcome(
    asked: Asked,
    given: EventFields,
    verdict: CheckVerdict,
  ): PolicyOutcome | Promise<PolicyOutcome> {
    if (verdict.verdict === 'wait') {
      const { reason: message, retryAfter } = verdict;
      return { type: 'rate_limited', message, retryAfter };
    }
    const fields = verdict.hooked?.args ? { ...given, args: verdict.hooked.args } : given;
    const allowed = verdict.verdict === 'ask' ? this.#ruleFor(asked, fields, verdict) : undefined;
    return allowed instanceof Promise
      ? allowed.then((rule) => this.#decided(asked, fields, verdict, rule))
      : this.#decided(asked, fields, verdict, allowed);
  }

  /** Where a person is asked, what the arguments refer to is looked at first. */
  #decided(
    asked: Asked,
    fields: EventFields,
    verdict: Verdict,
    allowed: AllowedByRule | undefined,
  ): Decided | Promise<Decided> {
    const { hooked } = verdict;
    const event = this.#toEvent(asked, fields, verdict, allowed);
    const noted = hooked
      ? { ...event, shown: { ...event.shown, hooks: [...hooked.notes] } }
      : event;
    const by = hooked && (`hook:${hooked.by}` as const);
    const isAsked = noted.type === 'arguments_complete' && noted.check === 'ask';
    return isAsked && asked.tool.operands
      ? this.#bound(asked, noted).then((bound) => ({ type: 'decided', event: bound, by }))
      : { type: 'decided', event: noted, by, use: allowed?.use };
  }

  /** The rule that a person made, and that allows the call (CA80). Its use is taken. */
  #ruleFor(
    { call, principal, tool }: Asked,
    fields: EventFields,
    { isEachTime }: AskVerdict,
  ): AllowedByRule | undefined | Promise<AllowedByRule | undefined> {
    if (isEachTime || tool.decidedBelow || tool.question) return undefined;
    const { operands } = tool;
    const args = fields.args ?? call.args;
    const whole = { ...call, args, routing: { ...call.routing, approval: scopeOf(tool) } };
    const caller = alwaysCaller(principal);
    const [rule] = this.#deps.always.matching(whole, caller, tool);
    if (!rule) return undefined;
    if (!isBound(rule.bound) || !operands) return { use: this.#deps.always.take(rule) };
    return bindOperands(operands, args).then((found) => {
      if (!found || 'error' in found) return undefined;
      // Another call may have had the last use meanwhile.
      const same = this.#deps.always
        .matching(whole, caller, tool)
        .find((one) => sameJson(one.operands, found.routing.operands));
      return same && { use: this.#deps.always.take(same), routing: found.routing };
    });
  }

  async #bound({ call, tool }: Asked, event: CallEvent): Promise<CallEvent> {
    const { fields = {}, shown } = event;
    const bound = await bindOperands(tool.operands, fields.args ?? call.args);
    if (!bound) return event;
    if ('error' in bound) return { type: 'refused', error: bound.error, fields };
    const whole = withOperands(fields, call.routing, bound.routing);
    const reason = shown?.approval_reason ?? '';
    const approval_key = approvalKey(this.#deps.withholding, call, whole, reason);
    return { ...event, fields: whole, shown: { ...shown, ...bound.shown, approval_key } };
  }

  #toEvent(
    { call, principal, tool }: Asked,
    fields: EventFields,
    verdict: Verdict,
    allowed: AllowedByRule | undefined,
  ): CallEvent {
    if (verdict.verdict === 'deny') {
      const error = { code: 'denied' as const, message: verdict.reason, executed: 'no' as const };
      return { type: 'refused', error, fields };
    }
    if (tool.decidedBelow) return { type: 'arguments_complete', check: 'allow', fields };
    if (tool.question) return this.#toQuestion(call, tool, tool.question, fields);
    if (verdict.verdict === 'allow' && (!verdict.isBound || isTrusted(tool.origin))) {
      return free(call, fields, verdict.onlyReads);
    }
    const approval = scopeOf(tool);
    const routing = { ...(fields.routing ?? call.routing), ...this.#waits, approval };
    const bound = { ...fields, routing: { ...routing, ...allowed?.routing } };
    if (verdict.verdict === 'ask' && !allowed) {
      return this.#asked({ call, principal, tool }, bound, verdict);
    }
    const shown = allowed && { shown: { allowed_by_rule: shownUse(allowed.use) } };
    return { type: 'arguments_complete', check: 'allow', fields: bound, ...shown };
  }

  #asked(
    { call, principal, tool }: Asked,
    fields: EventFields & Pick<Call, 'routing'>,
    verdict: AskVerdict,
  ): CallEvent {
    const caller = alwaysCaller(principal);
    return {
      type: 'arguments_complete',
      check: 'ask',
      fields,
      shown: {
        approval_reason: verdict.reason,
        approval_key: approvalKey(this.#deps.withholding, call, fields, verdict.reason),
        always_rule: verdict.isEachTime ? null : alwaysOffer(call, tool, caller),
        ...given({
          approval_reason_code: verdict.code,
          approval_reason_params: verdict.readBefore,
          approval_reasons: verdict.reasons && [...verdict.reasons],
          args_unchecked: tool.unchecked && true,
        }),
        ...shownClient(tool, this.#deps.facts),
      },
    };
  }

  /** The question is asked anew: it is about another tool, or another client, by now. */
  askedAgain(call: Call, tool: OfferedTool, given: EventFields): CallEvent {
    const routing = { ...(given.routing ?? call.routing), approval: scopeOf(tool) };
    const fields = { ...given, routing };
    const reason = `What was to be approved of ${call.toolName} has changed: it is asked again`;
    const { always_rule } = call.card;
    return {
      type: 'asked_again',
      fields,
      shown: {
        approval_reason: reason,
        approval_reason_code: 'changed',
        approval_reason_params: null,
        approval_reasons: [],
        approval_key: approvalKey(this.#deps.withholding, call, fields, reason),
        approval_decision: null,
        args_unchecked: tool.unchecked !== undefined,
        // A call that cannot always be allowed cannot be so once more.
        ...(always_rule && { always_rule: alwaysOffer(call, tool, always_rule.caller) }),
        ...shownClient(tool, this.#deps.facts),
      },
    };
  }

  /** A question that the policy does not deny waits for a person, for any caller. */
  #toQuestion(
    call: Call,
    tool: OfferedTool,
    toQuestion: NonNullable<OfferedTool['question']>,
    fields: EventFields,
  ): CallEvent {
    const asked = questionOf(toQuestion, fields.args ?? call.args);
    if ('error' in asked) return { type: 'refused', error: asked.error, fields };
    const approval = scopeOf(tool);
    const routing = { ...(fields.routing ?? call.routing), ...this.#waits, approval };
    const bound = { ...fields, args: { ...asked.question }, routing };
    const reason = withEllipsis(asked.question.question, REASON_CHARS);
    return {
      type: 'arguments_complete',
      check: 'ask',
      fields: bound,
      shown: {
        approval_reason: reason,
        question: asked.question.input,
        approval_key: approvalKey(this.#deps.withholding, call, bound, reason),
        always_rule: null,
      },
    };
  }
}

type Verdict = Exclude<CheckVerdict, { verdict: 'wait' }>;

/** A call that no person is asked about, as one made a rule for it. */
interface AllowedByRule {
  readonly use: RuleUse;
  /** It is for what the arguments refer to as it was then. */
  readonly routing?: Pick<Routing, 'operands'>;
}

const shownUse = ({ rule: { id, allowedBy, bound, uses }, number }: RuleUse) => ({
  id,
  by: allowedBy,
  names: bound.arguments.map(({ name }) => name),
  ...(uses !== null && { use: number, uses }),
});

type AskVerdict = Extract<CheckVerdict, { verdict: 'ask' }>;

/** It runs without a question; what was allowed as a call that only reads goes to no other tool. */
const free = (call: Call, fields: EventFields, onlyReads: true | undefined): CallEvent => ({
  type: 'arguments_complete',
  check: 'allow',
  fields: onlyReads
    ? { ...fields, routing: { ...(fields.routing ?? call.routing), onlyReads } }
    : fields,
});

type Facts = (instanceId: string) => { readonly name: string } | undefined;

/** How a card names the client of a tool; nothing for one inside the server. */
export function shownClient(
  { clientId, instanceId }: OfferedTool,
  facts: Facts,
): Pick<CardUpdate, 'client_id' | 'client_name'> {
  if (clientId === null || instanceId === null) return {};
  const name = facts(instanceId)?.name;
  return { client_id: clientId, ...(name === undefined ? {} : { client_name: name }) };
}

export const scopeOf = ({ clientId, toolHash }: OfferedTool): ApprovalScope => ({
  clientId,
  toolHash,
});

function questionOf(
  toQuestion: NonNullable<OfferedTool['question']>,
  args: Call['args'],
): { readonly question: Question } | { readonly error: CallError } {
  try {
    return { question: toQuestion({ ...args }) };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { error: { code: 'invalid_args', message: error.message, executed: 'no' } };
  }
}
