import { compileCondition, type Steps } from './match-args.ts';
import { matchSpellings } from './match-tools.ts';
import type { PolicyRule } from './policy-definition.ts';
import type { PolicyQuestion } from './policy-question.ts';

/** Which calls a rule or a limit is for. */
export interface Scope {
  /**
   * Whether it is for the call, whichever executor runs it. `spelling` is that of the tool; `steps`
   * are shared with all that is asked for the same decision.
   */
  isForCall(question: PolicyQuestion, spelling: string, steps: Steps): boolean;
  /** Whether it is for the one who would run it; undefined where it is for each. */
  readonly isForExecutor: ((question: PolicyQuestion) => boolean) | undefined;
}

type ScopeDefinition = Omit<PolicyRule, 'name' | 'effect' | 'reason' | 'tainted'>;

/** `ifUnread`: whether it is for a call of which not all that it looks at could be read. */
export function compileScope(definition: ScopeDefinition, ifUnread: boolean): Scope {
  const { tools, callers, via, source, clients, access, schemas, args = [] } = definition;
  const isForTool = tools && matchSpellings(tools);
  const conditions = args.map(compileCondition);
  const holds = (given: PolicyQuestion['args'], steps: Steps) =>
    conditions.every((test) => {
      const held = test(given, steps);
      return held === 'unknown' ? ifUnread : held;
    });
  const looksAtExecutor = clients !== undefined || access !== undefined || schemas !== undefined;
  return {
    isForCall: ({ caller, via: origin, source: from, args: given }, spelling, steps) =>
      isForTool?.(spelling) !== false &&
      callers?.some((one) => isCaller(one, caller)) !== false &&
      via?.includes(origin) !== false &&
      (source === undefined || source === from) &&
      holds(given, steps),
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
