import { compileScope, type Scope } from './compile-scope.ts';
import { newSteps } from './match-args.ts';
import { toolSpelling } from './match-tools.ts';
import type {
  PolicyDefinition,
  PolicyEffect,
  PolicyLimit,
  PolicyRule,
} from './policy-definition.ts';
import type { PolicyQuestion } from './policy-question.ts';

export interface PolicyDecision {
  readonly effect: PolicyEffect;
  /** The rule that decided: its name or its place in the file; null where none did. */
  readonly rule: string | null;
  readonly reason: string;
  /** The reason is the rule's own text, and not one of the texts below. */
  readonly isOwnReason: boolean;
  /** Another executor of the same tool might have got another decision. */
  readonly isOfExecutor: boolean;
}

interface CompiledRule extends Scope {
  readonly id: string;
  readonly effect: PolicyEffect;
  readonly reason: string | undefined;
}

interface CompiledLimit extends Scope {
  readonly id: string;
  readonly limit: PolicyLimit;
}

/** A definition in the form in which it is asked: each pattern compiled once. */
export interface Policy {
  readonly definition: PolicyDefinition;
  /** What denies first, then what asks, then what allows; each in the order of the file. */
  readonly rules: readonly CompiledRule[];
  readonly limits: readonly CompiledLimit[];
}

export function compilePolicy(definition: PolicyDefinition): Policy {
  const { ask, deny, rules, limits } = definition;
  const short = (effect: 'ask' | 'deny') => (tool: string, at: number) =>
    compileRule({ effect, tools: [tool] }, `${effect}.${at}`);
  const all = [
    ...deny.map(short('deny')),
    ...ask.map(short('ask')),
    ...rules.map((rule, at) => compileRule(rule, rule.name ?? `rules.${at}`)),
  ];
  const of = (effect: PolicyEffect) => all.filter((rule) => rule.effect === effect);
  return {
    definition,
    rules: [...of('deny'), ...of('ask'), ...of('allow')],
    limits: limits.map((limit, at) => ({
      ...{ id: limit.name ?? `limits.${at}`, limit },
      ...compileScope(limit, true),
    })),
  };
}

/**
 * What becomes of a call, by which rule, and why. The strongest effect of all rules that are for
 * the call counts (deny, then ask, then allow); of several rules with it the first is named. Pure.
 */
export function decidePolicy(
  { definition, rules }: Policy,
  question: PolicyQuestion,
): PolicyDecision {
  let isOfExecutor = false;
  const steps = newSteps();
  const spelling = rules.length === 0 ? '' : toolSpelling(question.toolName);
  for (const rule of rules) {
    if (!rule.isForCall(question, spelling, steps)) continue;
    isOfExecutor ||= rule.isForExecutor !== undefined;
    if (rule.isForExecutor?.(question) === false) continue;
    return {
      effect: rule.effect,
      rule: rule.id,
      reason: rule.reason ?? reasonOf(rule.effect, question.toolName),
      isOwnReason: rule.reason !== undefined,
      isOfExecutor,
    };
  }
  return withoutRule(definition, question, isOfExecutor);
}

function withoutRule(
  { unknown_effects }: PolicyDefinition,
  { toolName, clientId, access }: PolicyQuestion,
  isOfExecutor: boolean,
): PolicyDecision {
  const looks = unknown_effects === 'ask' && clientId !== null;
  const effect = looks && access === 'write' ? 'ask' : 'allow';
  return {
    effect,
    rule: effect === 'ask' ? 'unknown_effects' : null,
    reason:
      effect === 'ask'
        ? `${toolName} is a client’s tool with effects, and no rule of the policy allows it`
        : 'No rule of the policy is for this call',
    isOwnReason: true,
    isOfExecutor: isOfExecutor || looks,
  };
}

const reasonOf = (effect: PolicyEffect, toolName: string): string =>
  ({
    deny: `The policy of this server denies ${toolName}`,
    ask: `The policy of this server asks an operator before ${toolName}`,
    allow: `The policy of this server allows ${toolName}`,
  })[effect];

/** The limits that a call is counted by. */
export function limitsFor({ limits }: Policy, question: PolicyQuestion): readonly CompiledLimit[] {
  if (limits.length === 0) return limits;
  const spelling = toolSpelling(question.toolName);
  const steps = newSteps();
  return limits.filter(
    (one) => one.isForCall(question, spelling, steps) && one.isForExecutor?.(question) !== false,
  );
}

const compileRule = (rule: PolicyRule, id: string): CompiledRule => ({
  ...{ id, effect: rule.effect, reason: rule.reason },
  ...compileScope(rule, rule.effect !== 'allow'),
});
