import { sameJson } from '#lib/json/equal';
import { withAutonomy } from '#lib/policy/autonomy';
import {
  compilePolicy,
  decidePolicy,
  type Policy,
  type PolicyDecision,
} from '#lib/policy/decide-policy';
import type { PolicyDefinition } from '#lib/policy/policy-definition';
import type { PolicyQuestion } from '#lib/policy/policy-question';
import { callerOf, mayDecide } from '../auth/principal.ts';
import type { Check, CheckRequest, CheckVerdict, Denial } from '../calls/check.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { ToolRegistry } from '../tools/tool-registry.ts';
import type { Autonomy } from './autonomy.ts';
import { tryOut } from './dry-run.ts';
import { executorOf } from './executor-of.ts';
import type { HookChain } from './hook-chain.ts';
import type { LimitLeft, PolicyService, PolicyState } from './policy-service.ts';
import type { RateLimits } from './rate-limits.ts';

export interface LivePolicyDeps {
  readonly definition: PolicyDefinition;
  /** As the file is now. Throws where it has none that is valid. */
  read(): PolicyDefinition;
  readonly autonomy: Pick<Autonomy, 'of' | 'set' | 'state'>;
  readonly limits: Pick<RateLimits, 'take' | 'left'>;
  readonly hooks: Pick<HookChain, 'isBefore' | 'before'>;
  readonly registry: Pick<ToolRegistry, 'find'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The policy that counts now (rules PO in `lib/policy/SPEC.md`). */
export class LivePolicy implements PolicyService {
  readonly #deps: LivePolicyDeps;
  #policy: Policy;
  #loadedAt: number;
  #problem: string | null = null;

  constructor(deps: LivePolicyDeps) {
    this.#deps = deps;
    this.#policy = compilePolicy(deps.definition);
    this.#loadedAt = deps.clock.now();
  }

  readonly check: Check = (request) => {
    const question = toQuestion(request);
    const decision = this.#decide(question, request.runId);
    const isHooked = decision.effect !== 'deny' && this.#deps.hooks.isBefore(request.toolName);
    return isHooked ? this.#afterHooks(question, request) : this.#counted(question, decision);
  };

  readonly denial: Denial = (request) => {
    const { effect, reason } = this.#decide(toQuestion(request), request.runId);
    return effect === 'deny' ? reason : undefined;
  };

  /** The policy is asked again about arguments that a hook changed; the stronger of the two counts. */
  async #afterHooks(question: PolicyQuestion, request: CheckRequest): Promise<CheckVerdict> {
    const outcome = await this.#deps.hooks.before(question, request);
    const { args = question.args, verdict, notes = [], by = '' } = outcome ?? {};
    const now = { ...question, args };
    const decision = this.#decide(now, request.runId);
    if (outcome === undefined) return this.#counted(now, decision);
    const hooked = { notes, by, ...(outcome.args && { args: outcome.args }) };
    if (verdict?.effect === 'deny') return { verdict: 'deny', reason: verdict.reason, hooked };
    const counted = this.#counted(now, decision);
    const asks =
      verdict !== undefined && (counted.verdict === 'allow' || counted.verdict === 'ask');
    if (!asks) return { ...counted, hooked };
    return { verdict: 'ask', reason: verdict.reason, isEachTime: true, hooked };
  }

  #counted(question: PolicyQuestion, decision: PolicyDecision): CheckVerdict {
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
      this.#loadedAt = clock.now();
      this.#problem = null;
      logger.info('The policy was read again and counts from now on');
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error);
      logger.info(`The policy of before stays, since the file cannot be used: ${this.#problem}`);
    }
  }

  state(): PolicyState {
    const { definition } = this.#policy;
    const autonomy = this.#deps.autonomy.state();
    return { definition, loadedAt: this.#loadedAt, problem: this.#problem, autonomy };
  }

  dryRun(request: Parameters<PolicyService['dryRun']>[0]) {
    const policy = request.policy ? compilePolicy(request.policy) : this.#policy;
    const decide = (question: PolicyQuestion) => this.#decide(question, request.runId, policy);
    const left = (question: PolicyQuestion) => this.#deps.limits.left(policy, question);
    return tryOut(this.#deps.registry, request, { decide, left });
  }

  async setAutonomy(...[by, level, runId]: Parameters<PolicyService['setAutonomy']>) {
    if (!mayDecide(by)) return 'not_permitted';
    return (await this.#deps.autonomy.set(level, runId)) ? 'set' : 'too_many';
  }

  #decide(question: PolicyQuestion, runId = '', policy = this.#policy): PolicyDecision {
    return withAutonomy(this.#deps.autonomy.of(runId), decidePolicy(policy, question), question);
  }
}

function toQuestion({ principal, toolName, args, tool }: CheckRequest): PolicyQuestion {
  const caller = callerOf(principal);
  return {
    caller: {
      kind: caller.kind,
      name: caller.kind === 'device' ? caller.clientId : caller.name,
      ...(caller.kind === 'operator' ? { role: caller.role } : {}),
    },
    via: principal.kind === 'run' ? 'run' : 'http',
    ...executorOf(tool),
    toolName,
    args,
  };
}

const toWait = ({ limit, retryAfter }: LimitLeft, { toolName }: PolicyQuestion): CheckVerdict => ({
  verdict: 'wait',
  reason: `The limit ${JSON.stringify(limit)} of the policy allows no further call of ${toolName} now; try again in ${retryAfter} s`,
  retryAfter,
});

function toVerdict({ effect, reason, isOwnReason, isOfExecutor }: PolicyDecision): CheckVerdict {
  if (effect === 'allow') return { verdict: effect, isBound: isOfExecutor };
  if (effect === 'deny') return { verdict: effect, reason };
  return { verdict: effect, reason, ...(isOwnReason ? {} : { code: 'policy' }) };
}
