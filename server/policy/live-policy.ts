import type { Call } from '#lib/call/call';
import { sameJson } from '#lib/json/equal';
import { type AutonomyLevel, withAutonomy } from '#lib/policy/autonomy';
import {
  asReason,
  compilePolicy,
  decidePolicy,
  isByHand,
  type Policy,
  type PolicyDecision,
  type PolicyQuestion,
} from '#lib/policy/decide-policy';
import type { PolicyDefinition } from '#lib/policy/policy-definition';
import type { PolicyStateAnswer } from '#lib/policy/policy-wire';
import { type Marks, NO_TAINT, type Taint } from '#lib/policy/taint';
import { type ApprovalReason, POLICY_REASON_CODES } from '#lib/protocol/approval-reason';
import { redactShapes } from '#lib/text/redact';
import { given } from '#lib/util/given';
import type {
  Check,
  CheckEdit,
  CheckRequest,
  CheckVerdict,
  Denial,
  DenialRequest,
} from '../approvals/room.ts';
import { callerOf, mayDecide, type Principal, principalName, type Tokens } from '../auth/room.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { ToolRegistry } from '../tools/room.ts';
import type { Autonomy } from './autonomy.ts';
import type { HookChain } from './hook-chain.ts';
import { type DryRunRequest, executorOf, type LimitLeft, tryOut } from './policy-service.ts';
import type { RateLimits } from './rate-limits.ts';
import { both, type RunTaints, type TokenReads } from './taints.ts';

export interface LivePolicyDeps {
  readonly definition: PolicyDefinition;
  /** The file of the policy; null while there was none. */
  file(): string | null;
  /** Reads the file as it is now. Throws where it has no policy that is valid. */
  read(): PolicyDefinition;
  readonly autonomy: Pick<Autonomy, 'of' | 'set' | 'state'>;
  readonly limits: Pick<RateLimits, 'take' | 'left'>;
  readonly hooks: Pick<HookChain, 'isBefore' | 'isGuarded' | 'before' | 'state'>;
  readonly taints: Pick<RunTaints, 'of' | 'by' | 'ended' | 'setMarks'>;
  readonly reads: Pick<TokenReads, 'of' | 'ended'>;
  readonly registry: Pick<ToolRegistry, 'find'>;
  readonly tokens: Pick<Tokens, 'isLive' | 'programNamed'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Takes out of what is shown what is secret; without it tokens alone. */
  readonly hide?: (text: string) => string;
}

/** The policy that counts now (rules PO in `lib/policy/SPEC.md`). */
export class LivePolicy {
  readonly #deps: LivePolicyDeps;
  #policy: Policy;
  /** Without the rules that look at arguments: what it denies, no arguments help. */
  #ofTools: Policy;
  #loadedAt: number;
  #problem: string | null = null;

  constructor(deps: LivePolicyDeps) {
    this.#deps = deps;
    this.#policy = compilePolicy(deps.definition);
    this.#ofTools = compilePolicy(withoutArgs(deps.definition));
    this.#loadedAt = deps.clock.now();
  }

  readonly check: Check = (request) => {
    const question = toQuestion(request, this.#policy.marks);
    const taint = this.#taintFor(question, request);
    return taint instanceof Promise
      ? taint.then((read) => this.#checked(withTaint(question, read), request))
      : this.#checked(withTaint(question, taint), request);
  };

  /** Gives what a call by an agent could carry out; a person who makes one by hand is not asked. */
  #taintFor(question: PolicyQuestion, { principal, runId }: DenialRequest) {
    const { isWayOut, isUntrusted } = question;
    const isAsked = !isByHand(question) && (isWayOut || isUntrusted);
    return isAsked ? this.#readBy(principal, runId) : NO_TAINT;
  }

  /** A program knows as well what it has read in other runs. */
  #readBy(principal: Principal, runId: string): Taint | Promise<Taint> {
    const ofRun = this.#deps.taints.of(runId);
    const caller = callerOf(principal);
    if (caller.kind !== 'agent') return ofRun;
    const lately = this.#deps.reads.of(caller.tokenId);
    return ofRun instanceof Promise ? ofRun.then((one) => both(one, lately)) : both(ofRun, lately);
  }

  #checked(question: PolicyQuestion, request: CheckRequest): ReturnType<Check> {
    const decision = this.#decide(question, request.runId);
    const isHooked = decision.effect !== 'deny' && this.#deps.hooks.isBefore(request.toolName);
    return isHooked
      ? this.#afterHooks(question, request)
      : this.#counted(question, decision, request);
  }

  readonly checkEdit: CheckEdit = (request) => {
    const { hooks } = this.#deps;
    return hooks.isBefore(request.toolName)
      ? hooks.before(toQuestion(request, this.#policy.marks), request)
      : undefined;
  };

  readonly denial: Denial = (request) => {
    const revoked = this.#revoked(request.principal);
    if (revoked !== undefined) return revoked;
    const question = toQuestion(request, this.#policy.marks);
    const reasonOf = (taint: Taint) => {
      const { effect, reason } = this.#decide(withTaint(question, taint), request.runId);
      return effect === 'deny' ? reason : undefined;
    };
    const taint = this.#taintFor(question, request);
    if (!(taint instanceof Promise)) return reasonOf(taint);
    taint.catch(this.#deps.logger.error);
    return reasonOf(NO_TAINT) ?? (reasonOf(ANY_TAINT) && NOT_READ_YET);
  };

  /** The rule that denies a tool to a run, whatever the arguments. */
  readonly denialOf = (of: {
    readonly principal: Principal;
    readonly runId: string;
    readonly name: string;
    readonly from: string | null;
  }): { readonly rule: string; readonly reason: string } | undefined => {
    const tool = this.#deps.registry.find(of.name, of.from)?.best;
    if (!tool) return undefined;
    const { principal, name: toolName, runId } = of;
    const question = toQuestion({ principal, toolName, runId, args: {}, tool }, this.#policy.marks);
    const { effect, rule, reason } = this.#decide(question, runId, this.#ofTools);
    return effect === 'deny' && rule !== null ? { rule, reason } : undefined;
  };

  /**
   * The tool by which content of others was read before such a call; null: none was, or a person
   * makes it by hand.
   */
  readonly othersRead = async ({
    principal,
    runId,
  }: Pick<CheckRequest, 'principal' | 'runId'>): Promise<string | null> =>
    principal.kind === 'operator' ? null : (await this.#readBy(principal, runId)).untrusted;

  /** The calls need this of it. */
  get forCalls() {
    const { check, checkEdit, denial } = this;
    const onDecided = (call: Call): void => {
      this.#deps.taints.ended(call);
      this.#deps.reads.ended(call, this.#policy.marks);
    };
    return { policy: { check, checkEdit, denial }, onDecided };
  }

  /** The policy is asked again about arguments that a hook changed; the stronger of the two counts. */
  async #afterHooks(question: PolicyQuestion, request: CheckRequest): Promise<CheckVerdict> {
    const outcome = await this.#deps.hooks.before(question, request);
    const { args = question.args, verdict, notes = [], by = '' } = outcome ?? {};
    const now = { ...question, args };
    const decided = this.#decide(now, request.runId);
    const isGuarded = this.#deps.hooks.isGuarded(request.toolName);
    const decision = isGuarded ? { ...decided, isOfExecutor: true } : decided;
    if (outcome === undefined) return this.#counted(now, decision, request);
    const hooked = { notes, by, ...(outcome.args && { args: outcome.args }) };
    if (verdict?.effect === 'deny') return { verdict: 'deny', reason: verdict.reason, hooked };
    const counted = this.#counted(now, decision, request);
    const asks =
      verdict !== undefined && (counted.verdict === 'allow' || counted.verdict === 'ask');
    if (!asks) return { ...counted, hooked };
    const reasons = counted.verdict === 'ask' ? reasonsOf(counted) : [];
    const { readBefore } = counted.verdict === 'ask' ? counted : {};
    return {
      ...asked([...verdict.reasons, ...reasons]),
      isEachTime: true,
      hooked,
      ...given({ readBefore }),
    };
  }

  #counted(
    question: PolicyQuestion,
    decision: PolicyDecision,
    { principal }: CheckRequest,
  ): CheckVerdict {
    const revoked = this.#revoked(principal);
    if (revoked !== undefined) return { verdict: 'deny', reason: revoked };
    const isMade = decision.effect !== 'deny';
    const limit = isMade ? this.#deps.limits.take(this.#policy, question) : undefined;
    return limit === undefined ? toVerdict(decision) : toWait(limit, question);
  }

  /** Takes over what the file has now. Calls that were decided stay as they were decided. */
  reload(): void {
    const { read, clock, logger } = this.#deps;
    try {
      const definition = read();
      const isSame = sameJson(definition, this.#policy.definition);
      if (isSame && this.#problem === null) return;
      this.#policy = compilePolicy(definition);
      this.#ofTools = compilePolicy(withoutArgs(definition));
      this.#deps.taints.setMarks(this.#policy.marks);
      this.#loadedAt = clock.now();
      this.#problem = null;
      logger.info('The policy was read again and counts from now on');
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error);
      logger.info(`The policy of before stays, since the file cannot be used: ${this.#problem}`);
    }
  }

  state(): PolicyStateAnswer {
    const { hooks, file, autonomy } = this.#deps;
    return {
      policy: this.#policy.definition,
      file: file(),
      loaded_at: this.#loadedAt / 1_000,
      problem: this.#problem,
      autonomy: autonomy.state(),
      hooks: hooks.state(),
    };
  }

  /** Says what would become of a call. Nothing is called, counted or kept. */
  async dryRun(request: DryRunRequest) {
    const policy = request.policy ? compilePolicy(request.policy) : this.#policy;
    const { runId } = request;
    const taint = isByHand(request) ? NO_TAINT : await this.#taintTried(request, policy);
    const decide = (question: PolicyQuestion) =>
      this.#decide(withTaint(question, taint), runId, policy);
    const left = (question: PolicyQuestion) => this.#deps.limits.left(policy, question);
    const { registry, hide = redactShapes } = this.#deps;
    return tryOut(registry, request, { decide, left, marks: policy.marks, hide });
  }

  /** Gives the taint that a call of that caller would find; a program's reads count by the marks of then. */
  async #taintTried({ runId, caller }: DryRunRequest, policy: Policy): Promise<Taint> {
    const { reads, tokens } = this.#deps;
    const ofRun = runId === undefined ? NO_TAINT : await this.#taintOfRun(runId, policy);
    const tokenId = caller.kind === 'agent' ? tokens.programNamed(caller.name) : undefined;
    return tokenId === undefined ? ofRun : both(ofRun, reads.of(tokenId));
  }

  #taintOfRun(runId: string, policy: Policy): Taint | Promise<Taint> {
    const { taints } = this.#deps;
    return policy === this.#policy ? taints.of(runId) : taints.by(policy.marks, runId);
  }

  /**
   * Without a run it is for all. `level` null: the run has none of its own any more. Resolves when it
   * is on disk, or was refused.
   */
  async setAutonomy(by: Principal, level: AutonomyLevel | null, runId: string | null) {
    if (!mayDecide(by)) return 'not_permitted';
    return (await this.#deps.autonomy.set(level, runId, callerOf(by).tokenId)) ? 'set' : 'too_many';
  }

  /** Hooks, and the store, take their time: the token may have been revoked since it was shown. */
  #revoked(principal: Principal): string | undefined {
    const { tokenId } = callerOf(principal);
    if (tokenId === null || this.#deps.tokens.isLive(tokenId)) return undefined;
    return `The token of ${principalName(callerOf(principal))} was revoked`;
  }

  #decide(question: PolicyQuestion, runId = '', policy = this.#policy): PolicyDecision {
    return withAutonomy(this.#deps.autonomy.of(runId), decidePolicy(policy, question), question);
  }
}

/** It stands for a run of which it is not known yet what it has read. */
const ANY_TAINT: Taint = { private: 'it is not known what', untrusted: 'it is not known what' };
const NOT_READ_YET =
  'It is being read what the run has read, and the policy may deny the call for it; decide again in a moment';

const withoutArgs = (definition: PolicyDefinition): PolicyDefinition => ({
  ...definition,
  rules: definition.rules.filter(({ args = [] }) => args.length === 0),
});

function toQuestion(
  { principal, toolName, args, via, tool }: DenialRequest,
  marks: Marks,
): PolicyQuestion {
  const caller = callerOf(principal);
  return {
    caller: {
      kind: caller.kind,
      name: caller.kind === 'device' ? caller.clientId : caller.name,
      ...(caller.kind === 'operator' ? { role: caller.role } : {}),
    },
    via: principal.kind === 'run' ? 'run' : (via ?? 'http'),
    ...executorOf(toolName, tool, marks),
    toolName,
    args,
  };
}

function withTaint(question: PolicyQuestion, taint: Taint): PolicyQuestion {
  const { private: secret, untrusted } = taint;
  if (secret === null || untrusted === null) return question;
  return { ...question, taint: { private: secret, untrusted } };
}

const toWait = (
  { limit, retry_after: retryAfter }: LimitLeft,
  { toolName }: PolicyQuestion,
): CheckVerdict => ({
  verdict: 'wait',
  reason: `The limit ${JSON.stringify(limit)} of the policy allows no further call of ${toolName} now; try again in ${retryAfter} s`,
  retryAfter,
});

function toVerdict(decision: PolicyDecision): CheckVerdict {
  const { effect, reason, code, isOfExecutor, onlyReads, taint, reasons } = decision;
  if (effect === 'allow')
    return { verdict: effect, isBound: isOfExecutor, ...given({ onlyReads }) };
  if (effect === 'deny') return { verdict: effect, reason };
  const verdict = asked(reasons ?? [asReason({ code, reason })]);
  return taint === undefined ? verdict : { ...verdict, readBefore: taint, isEachTime: true };
}

type AskVerdict = Extract<CheckVerdict, { verdict: 'ask' }>;

/** Programs are given all reasons as one text, with the code of the first. */
function asked(reasons: readonly ApprovalReason[]): AskVerdict {
  const code = POLICY_REASON_CODES.find((one) => one === reasons[0]?.code);
  const reason = reasons.map(({ text }) => text).join('. ');
  return { verdict: 'ask', reason, ...given({ code }), ...(reasons.length > 1 && { reasons }) };
}

const reasonsOf = ({ reason, code, readBefore, reasons }: AskVerdict): readonly ApprovalReason[] =>
  reasons ?? [{ ...asReason({ code: code ?? null, reason }), ...given({ read: readBefore }) }];
