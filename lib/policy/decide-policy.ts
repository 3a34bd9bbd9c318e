import type { ApprovalReason, PolicyReasonCode, ReadBefore } from '../protocol/approval-reason.ts';
import { compileCondition, matchSpellings, newSteps, type Steps, toolSpelling } from './match.ts';
import {
  type CallOrigin,
  POLICY_EFFECTS,
  type PolicyDefinition,
  type PolicyEffect,
  type PolicyLimit,
  type PolicyRule,
} from './policy-definition.ts';
import { compileMarks, type Marks } from './taint.ts';

export interface PolicyDecision {
  readonly effect: PolicyEffect;
  /** The rule that decided: its name or its place in the file; null where none did. */
  readonly rule: string | null;
  readonly reason: string;
  /** Which of the texts below the reason is; null: a rule's own, or of a call that is not asked about. */
  readonly code: PolicyReasonCode | null;
  /** Another executor of the same tool might have got another decision. */
  readonly isOfExecutor: boolean;
  /** It was allowed since its tool says that it only reads; at an executor whose tool does not, it would be asked about. */
  readonly onlyReads?: true;
  /** The run has read this, so the call is asked about each time, at any autonomy. */
  readonly taint?: ReadBefore;
  /** Each reason that `reason` joins; present together with `taint`. */
  readonly reasons?: readonly ApprovalReason[];
}

interface CompiledRule extends Scope {
  readonly id: string;
  readonly effect: PolicyEffect;
  readonly reason: string | undefined;
  readonly isForTainted: boolean;
}

interface CompiledLimit extends Scope {
  readonly id: string;
  readonly limit: PolicyLimit;
}

/** A definition in the form in which it is asked: each pattern compiled once. */
export interface Policy {
  readonly definition: PolicyDefinition;
  /** Rules that deny come first, then those that ask, then those that allow; each in the order of the file. */
  readonly rules: readonly CompiledRule[];
  readonly limits: readonly CompiledLimit[];
  readonly marks: Marks;
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
    // A rule that allows a tainted call does so, whatever else allows it.
    rules: [...of('deny'), ...of('ask'), ...of('allow').toSorted(taintedFirst)],
    marks: compileMarks(definition.taint),
    limits: limits.map((limit, at) => ({
      id: limit.name ?? `limits.${at}`,
      limit,
      ...compileScope(limit, true),
    })),
  };
}

/**
 * Decides what becomes of a call, by which rule, and why. The strongest effect of all rules that are for
 * the call counts (deny, then ask, then allow); of several rules with it the first is named. Pure.
 */
export function decidePolicy(policy: Policy, question: PolicyQuestion): PolicyDecision {
  const decided = decideByRules(policy, question);
  const { taint, isWayOut = false, toolName } = question;
  if (taint === undefined) return decided;
  // Another executor of the tool might carry it out.
  const bound = { ...decided, isOfExecutor: true };
  if (!isWayOut || decided.effect === 'deny' || decided.isForTainted) return bound;
  const why = `The run has read private data (${taint.private}) and content of others (${taint.untrusted}), and ${toolName} could carry it out`;
  const reason = decided.effect === 'ask' ? `${decided.reason}. ${why}` : why;
  const rule = decided.effect === 'ask' ? decided.rule : 'taint';
  const code = decided.effect === 'ask' ? decided.code : 'taint';
  const tainted = { code: 'taint', text: why, read: taint } as const;
  const reasons = decided.effect === 'ask' ? [asReason(decided), tainted] : [tainted];
  return { ...bound, effect: 'ask', rule, reason, code, taint, reasons };
}

/** Why a person is asked, of a decision with one reason. */
export const asReason = ({
  code,
  reason,
}: Pick<PolicyDecision, 'code' | 'reason'>): ApprovalReason => ({
  code: code ?? 'rule',
  text: reason,
});

type Decided = PolicyDecision & { readonly isForTainted: boolean };

function decideByRules(policy: Policy, question: PolicyQuestion): Decided {
  const { ruled, isOfExecutor } = findRule(policy, question);
  if (question.configured) return withConfigured(ruled, question.configured, question);
  return ruled ?? withoutRule(policy.definition, question, isOfExecutor);
}

/** The stronger of the rules and of what the configuration of the tool's provider says. */
function withConfigured(
  ruled: Decided | undefined,
  configured: NonNullable<PolicyQuestion['configured']>,
  question: PolicyQuestion,
): Decided {
  // The form that was looked at, and no other.
  const bound = { isOfExecutor: true, isForTainted: false };
  const isWeaker =
    configured.isDefault || POLICY_EFFECTS.indexOf(configured.effect) <= strengthOf(ruled);
  if (ruled && isWeaker) return { ...ruled, isOfExecutor: true };
  const effect = configured.isDefault && isByHand(question) ? 'allow' : configured.effect;
  const reason = configuredReason(configured, question.toolName);
  return { ...bound, effect, rule: 'mcp_servers', reason, code: null };
}

const strengthOf = (decided: Decided | undefined): number =>
  decided ? POLICY_EFFECTS.indexOf(decided.effect) : -1;

const configuredReason = (
  { effect, isDefault }: NonNullable<PolicyQuestion['configured']>,
  toolName: string,
): string =>
  isDefault
    ? `${toolName} is a tool of another server, and mcp_servers in the configuration does not name it`
    : `mcp_servers in the configuration says "${effect}" of ${toolName}`;

/** By the first rule that is for the call; `isOfExecutor`: one is, at another executor. */
function findRule(
  { rules }: Policy,
  question: PolicyQuestion,
): { readonly ruled: Decided | undefined; readonly isOfExecutor: boolean } {
  let isOfExecutor = false;
  const isTainted = question.taint !== undefined && question.isWayOut === true;
  const steps = newSteps();
  const spelling = rules.length === 0 ? '' : toolSpelling(question.toolName);
  for (const rule of rules) {
    if (rule.isForTainted && !isTainted) continue;
    if (!rule.isForCall(question, spelling, steps)) continue;
    isOfExecutor ||= rule.isForExecutor !== undefined;
    if (rule.isForExecutor?.(question) === false) continue;
    const ruled: Decided = {
      effect: rule.effect,
      rule: rule.id,
      reason: rule.reason ?? reasonOf(rule.effect, question.toolName),
      code: rule.reason === undefined ? 'policy' : null,
      isOfExecutor,
      isForTainted: rule.isForTainted && rule.effect === 'allow',
    };
    return { ruled, isOfExecutor };
  }
  return { ruled: undefined, isOfExecutor };
}

function withoutRule(
  { unknown_effects }: PolicyDefinition,
  question: PolicyQuestion,
  isOfExecutor: boolean,
): Decided {
  const { toolName, isUntrusted, access, destructive } = question;
  if (!isUntrusted && access === 'write' && destructive) {
    const reason = `${toolName} may destroy something, and no rule of the policy allows it`;
    return {
      effect: 'ask',
      rule: 'destructive',
      reason,
      code: 'destructive',
      isOfExecutor,
      isForTainted: false,
    };
  }
  const looks = unknown_effects === 'ask' && isUntrusted && !isByHand(question);
  const effect = looks && access === 'write' ? 'ask' : 'allow';
  const onlyReads = looks && access === 'read';
  return {
    effect,
    rule: effect === 'ask' ? 'unknown_effects' : null,
    reason:
      effect === 'ask'
        ? `${toolName} is a client’s tool with effects, and no rule of the policy allows it`
        : 'No rule of the policy is for this call',
    code: effect === 'ask' ? 'unknown_effects' : null,
    isOfExecutor,
    isForTainted: false,
    ...(onlyReads && { onlyReads }),
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
  id,
  effect: rule.effect,
  reason: rule.reason,
  isForTainted: rule.tainted === true,
  ...compileScope(rule, rule.effect !== 'allow'),
});

const taintedFirst = (a: CompiledRule, b: CompiledRule): number =>
  Number(b.isForTainted) - Number(a.isForTainted);

/** Which calls a rule or a limit is for. */
interface Scope {
  /**
   * Says that it is for the call, whichever executor runs it. `spelling` is that of the tool; `steps`
   * are shared with all that is asked for the same decision.
   */
  isForCall(question: PolicyQuestion, spelling: string, steps: Steps): boolean;
  /** Says that it is for the one who would run the call; undefined where it is for each. */
  readonly isForExecutor: ((question: PolicyQuestion) => boolean) | undefined;
}

type ScopeDefinition = Omit<PolicyRule, 'name' | 'effect' | 'reason' | 'tainted'>;

/** `ifUnread`: whether it is for a call of which not all that it looks at could be read. */
function compileScope(definition: ScopeDefinition, ifUnread: boolean): Scope {
  const { tools, callers, via, source, clients, access, schemas, args = [] } = definition;
  const isForTool = tools && matchSpellings(tools);
  const conditions = args.map(compileCondition);
  const holds = ({ args: given, hasUncheckedArgs }: PolicyQuestion, steps: Steps) =>
    conditions.every((test) => {
      // Nobody knows what unchecked arguments hold, so they allow nothing.
      if (hasUncheckedArgs && !ifUnread) return false;
      const held = test(given, steps);
      return held === 'unknown' ? ifUnread : held;
    });
  const looksAtExecutor = clients !== undefined || access !== undefined || schemas !== undefined;
  return {
    isForCall: (question, spelling, steps) =>
      isForTool?.(spelling) !== false &&
      callers?.some((one) => isCaller(one, question.caller)) !== false &&
      via?.includes(question.via) !== false &&
      (source === undefined || source === question.source) &&
      holds(question, steps),
    isForExecutor: looksAtExecutor
      ? ({ clientId, access: now, schemaHash }) =>
          (clients === undefined || (clientId !== null && clients.includes(clientId))) &&
          (access === undefined || access === now) &&
          schemas?.includes(schemaHash) !== false
      : undefined,
  };
}

type CallerPattern = NonNullable<ScopeDefinition['callers']>[number];

const isCaller = ({ kind, role, name }: CallerPattern, caller: PolicyQuestion['caller']): boolean =>
  (kind === undefined || kind === caller.kind) &&
  (role === undefined || role === caller.role) &&
  (name === undefined || name === caller.name);

/** A call that is about to be made: who, how, which tool at which executor, with what. */
export interface PolicyQuestion {
  /** The one who calls, or for whom the built-in agent does. Operators alone have a `role`. */
  readonly caller: {
    readonly kind: 'operator' | 'agent' | 'device';
    readonly name: string;
    readonly role?: string | undefined;
  };
  readonly via: CallOrigin;
  readonly toolName: string;
  /** The client that would be asked now; null for tools that run inside the server. */
  readonly clientId: string | null;
  /** `server`, `client`, or the kind of another provider of tools. */
  readonly source: string;
  /** The tool's description and its results are not the server's own. */
  readonly isUntrusted: boolean;
  /** That executor annotates the tool so. */
  readonly access: 'read' | 'write';
  /** It says of itself that it may destroy something. */
  readonly destructive?: boolean | undefined;
  readonly schemaHash: string;
  /** The configuration of its provider says so; `isDefault` where it says nothing of the tool. */
  readonly configured?: { readonly effect: PolicyEffect; readonly isDefault?: true } | undefined;
  /** Its run has read this; present where it is private and untrusted and an agent makes the call. */
  readonly taint?: ReadBefore | undefined;
  /** That executor could carry it out. */
  readonly isWayOut?: boolean;
  /** The schema of that executor has a part that cannot be checked: no rule allows by arguments. */
  readonly hasUncheckedArgs?: boolean;
  /** They were checked against the schema, and repaired. */
  readonly args: Readonly<Record<string, unknown>>;
}

/** A person makes the call; what a program decides, the built-in agent's or another, is none. */
export const isByHand = ({ caller, via }: Pick<PolicyQuestion, 'caller' | 'via'>): boolean =>
  via === 'http' && caller.kind === 'operator';
