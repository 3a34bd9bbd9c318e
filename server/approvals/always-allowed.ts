import { hash } from 'node:crypto';
import { z } from 'zod';
import { ANY_ARGUMENTS, isBound, isWithin, newLooking } from '#lib/approval/bound-arguments';
import type { ApprovalScope, Call } from '#lib/call/call';
import { canonicalJson } from '#lib/json/equal';
import { FairMap } from '#lib/limits/fair-map';
import { matchTools } from '#lib/policy/match';
import {
  ALWAYS_SCOPES,
  type AlwaysCaller,
  type AlwaysOffer,
  alwaysCallerSchema,
  type BoundArguments,
  boundArgumentSchema,
  otherArgumentsSchema,
} from '#lib/protocol/always';
import { given } from '#lib/util/given';
import { callerOf, type Principal, principalKey, principalName } from '../auth/room.ts';
import type { Clock } from '../base/clock.ts';
import { type Change, KeptArea, type Store } from '../store/room.ts';
import type { OfferedTool } from '../tools/room.ts';

/** Beyond them the caller with the most loses the oldest of its own: that is asked again. */
const MOST_RULES = 1_000;

/** A saved rule without an end of its own ends then. */
const SAVED_MS = 30 * 24 * 3_600_000;

/** Its use is written down to the minute. */
const USED_EVERY_MS = 60_000;

/** Their arguments are programs and addresses of any kind: a yes to one is none to the next (T74). */
const isNeverAlways = matchTools(['http.request', 'run_code']);
/** Its arguments are programs, too, but the same list of words is the same program. */
const isShell = matchTools(['shell']);

const AREA = 'always';

type KeptStore = Pick<Store, 'write' | 'listKept'>;

/** Rules are kept under their id; those of earlier versions lack what has a default. Times are in milliseconds since the epoch. */
const ruleSchema = z.object({
  scope: z.enum(ALWAYS_SCOPES).default('run'),
  runId: z.string(),
  /** The run is its owner's; with `saved` the rule holds for all runs of this one. */
  ownerToken: z.string().nullable().default(null),
  caller: alwaysCallerSchema.nullable().default(null),
  toolName: z.string(),
  /** Null: the server's own tool. */
  clientId: z.string().nullable(),
  /** It is that of the tool as it was shown. */
  toolHash: z.string(),
  bound: z
    .object({
      arguments: z.array(boundArgumentSchema).readonly(),
      other_arguments: otherArgumentsSchema,
    })
    .default(ANY_ARGUMENTS),
  /** The arguments that it is bound to referred to this, and have to again. */
  operands: z
    .array(z.object({ path: z.string(), hash: z.string() }))
    .readonly()
    .default([]),
  /** So many calls it allows; null: any number. */
  uses: z.number().nullable().default(null),
  used: z.number().default(0),
  allowedAt: z.number(),
  allowedBy: z.string().default('operator'),
  /** Null: when it is withdrawn. */
  expiresAt: z.number().nullable().default(null),
  /** To the minute, or to the use where uses are counted; null: not yet. */
  lastUsedAt: z.number().nullable().default(null),
});

type KeptRule = z.infer<typeof ruleSchema>;

/** An operator said "always": calls of this tool, of this client, in this run are not asked about. */
export interface AlwaysRule extends Readonly<Omit<KeptRule, 'caller'>> {
  readonly id: string;
  readonly caller: AlwaysCaller;
}

/** How far an "always" reaches: any arguments in this run without an end, where nothing else is given. */
export interface AlwaysTerms {
  readonly scope?: KeptRule['scope'];
  readonly forMs?: number;
  readonly bound?: BoundArguments;
  readonly uses?: number;
}

/** A call that a rule allows. The use is taken at once, so that no two calls have the same one. */
export interface RuleUse {
  readonly rule: AlwaysRule;
  /** The card shows the number of the use. Uses of calls that are not written yet count. */
  readonly number: number;
  /** It is written with the call that has the use. Asked for once. */
  counted(): Change[];
  /** There comes to be no such call. */
  release(): void;
}

interface Held {
  rule: AlwaysRule;
  /** Uses of calls that are not being written yet. */
  taken: number;
}

type RuledCall = Pick<Call, 'runId' | 'ownerToken' | 'toolName' | 'routing'>;
/** It has its whole arguments. */
type AskedCall = RuledCall & Pick<Call, 'args'>;

/** For whom a call is made, by what is never given to another. */
export const alwaysCaller = (principal: Principal): AlwaysCaller => {
  const askedBy = principal.kind === 'run' ? principal.askedBy : undefined;
  const caller = askedBy ?? callerOf(principal);
  return { kind: principal.kind, name: principalName(caller), id: principalKey(caller) };
};

type CheckedTool = Pick<OfferedTool, 'neverAlways'> & {
  readonly unchecked?: readonly string[] | undefined;
};

/** The rule that "always" would write, as a card shows it; null: it cannot be said. */
export function alwaysOffer(
  { runId, toolName }: Pick<Call, 'runId' | 'toolName'>,
  tool: Pick<OfferedTool, keyof ApprovalScope> & CheckedTool,
  caller: AlwaysCaller | undefined,
): AlwaysOffer | null {
  const binding = bindingOf(toolName, tool);
  if (binding === null) return null;
  const { clientId, toolHash } = tool;
  const offer = { tool_name: toolName, client_id: clientId, run_id: runId, tool_hash: toolHash };
  return { ...offer, ...given({ caller, binding }) };
}

/** How a rule for the tool is bound to arguments; null: there is none for it. */
function bindingOf(
  toolName: string,
  { neverAlways, unchecked }: CheckedTool,
): AlwaysOffer['binding'] | null {
  if (isShell(toolName)) return unchecked ? null : 'exact';
  if (neverAlways || isNeverAlways(toolName)) return null;
  return unchecked ? 'never' : undefined;
}

/** The rules that operators made of approvals (CA8). They hold until they are over, over restarts too. */
export class AlwaysAllowed {
  readonly #kept: KeptArea<KeptRule>;
  readonly #clock: Clock;
  readonly #rules = new FairMap<Held>(MOST_RULES);

  constructor({ store, clock }: { readonly store: KeptStore; readonly clock: Clock }) {
    this.#clock = clock;
    this.#kept = new KeptArea({ store, area: AREA, schema: ruleSchema, now: clock.now });
  }

  /** Takes up what an earlier server kept. Once, before anything is asked. */
  async load(): Promise<void> {
    const kept = await this.#kept.load();
    // In the order in which they were allowed, and not in which they were used.
    for (const { key, value } of kept.toSorted((a, b) => a.value.allowedAt - b.value.allowedAt)) {
      const { caller } = value;
      if (caller) this.#hold({ ...value, caller, id: key });
    }
    // For whom those of before were is not known for sure: such calls are asked about again.
    const lapsed = kept.filter(({ value }) => value.caller === null);
    if (lapsed.length > 0) await this.#kept.change(lapsed.map(({ key }) => ({ key })));
  }

  /** The rules that allow the call, those first that allow any number. Nothing is counted yet. */
  matching(call: AskedCall, caller: AlwaysCaller, tool: CheckedTool): AlwaysRule[] {
    const binding = bindingOf(call.toolName, tool);
    if (binding === null) return [];
    const now = this.#clock.now();
    const looking = newLooking(call.args);
    return this.#rules
      .values()
      .filter(
        ({ rule, taken }) =>
          isFor(rule, call, caller) &&
          (rule.uses === null || rule.used + taken < rule.uses) &&
          !hasExpired(rule, now) &&
          // A rule that cannot be checked allows nothing.
          (binding === undefined || isBound(rule.bound) === (binding === 'exact')) &&
          isWithin(rule.bound, call.args, looking),
      )
      .map(({ rule }) => rule)
      .toSorted((a, b) => Number(a.uses !== null) - Number(b.uses !== null));
  }

  /** Takes a use of a rule that `matching` has just given. */
  take(rule: AlwaysRule): RuleUse {
    const held = this.#rules.get(rule.id) ?? { rule, taken: 0 };
    held.taken += 1;
    const number = held.rule.used + held.taken;
    let isOpen = true;
    const release = () => {
      held.taken -= isOpen ? 1 : 0;
      isOpen = false;
    };
    return {
      rule,
      number,
      release,
      counted: () => {
        release();
        return this.#counted(held);
      },
    };
  }

  /** The write of the call has it, so that a use is on disk when its call is, and not before. */
  #counted(held: Held): Change[] {
    const { id: key, ...before } = held.rule;
    // It was withdrawn, or written anew, in between.
    if (this.#rules.get(key) !== held) return [];
    const now = this.#clock.now();
    const { uses, used, lastUsedAt } = before;
    const isRecent = lastUsedAt !== null && now - lastUsedAt < USED_EVERY_MS;
    if (uses === null && isRecent) return [];
    const value = { ...before, used: uses === null ? used : used + 1, lastUsedAt: now };
    held.rule = { ...value, id: key };
    if (value.used !== uses) return [put(key, value, now)];
    this.#rules.delete(key);
    return [{ type: 'delete_kept', area: AREA, key }];
  }

  /** Holds at once; resolves with the rule when it is on disk. */
  async add(
    call: RuledCall,
    caller: AlwaysCaller,
    terms: AlwaysTerms,
    allowedBy: string,
  ): Promise<AlwaysRule | undefined> {
    const { runId, ownerToken, toolName, routing } = call;
    const { approval, operands = [] } = routing;
    const { scope = 'run', bound = ANY_ARGUMENTS, uses = null } = terms;
    const { forMs = scope === 'saved' ? SAVED_MS : null } = terms;
    if (approval === null) return undefined;
    const allowedAt = this.#clock.now();
    const value = {
      scope,
      runId,
      ownerToken,
      caller,
      toolName,
      ...approval,
      bound,
      operands: isBound(bound) ? operands : [],
      uses,
      used: 0,
      allowedAt,
      allowedBy,
      expiresAt: forMs === null ? null : allowedAt + forMs,
      lastUsedAt: null,
    };
    const rule = { ...value, id: idOf(value) };
    const expired = this.#all().filter((one) => hasExpired(one, allowedAt));
    for (const one of expired) this.#rules.delete(one.id);
    const forgotten = this.#hold(rule);
    const dropped = expired.map(({ id }) => id).concat(forgotten ?? []);
    const deleted = dropped.filter((key) => key !== rule.id);
    await this.#kept.change([{ key: rule.id, value }, ...deleted.map((key) => ({ key }))]);
    return rule;
  }

  list(): AlwaysRule[] {
    const now = this.#clock.now();
    return this.#all().filter((rule) => !hasExpired(rule, now));
  }

  /** Resolves when that is on disk; undefined: there is no such rule. */
  async withdraw(id: string): Promise<AlwaysRule | undefined> {
    const held = this.#rules.get(id);
    if (!held) return undefined;
    this.#rules.delete(id);
    await this.#kept.change([{ key: id }]);
    return held.rule;
  }

  #all(): AlwaysRule[] {
    return this.#rules.values().map(({ rule }) => rule);
  }

  /** Returns the id of the rule that had to go for it. */
  #hold(rule: AlwaysRule): string | undefined {
    return this.#rules.put(rule.caller.id, rule.id, { rule, taken: 0 });
  }
}

const put = (key: string, value: KeptRule, now: number): Change => ({
  type: 'put_kept',
  entry: { area: AREA, key, value, putAt: now },
});

const hasExpired = ({ expiresAt }: AlwaysRule, now: number): boolean =>
  expiresAt !== null && expiresAt <= now;

/**
 * A saved one is for the calls of all runs with the same owner. Each is for who called: what an agent
 * calls in a run is not what a person was asked about there.
 */
const isFor = (
  rule: AlwaysRule,
  { runId, ownerToken, toolName, routing: { approval } }: RuledCall,
  caller: AlwaysCaller,
): boolean =>
  rule.toolName === toolName &&
  rule.toolHash === approval?.toolHash &&
  rule.clientId === approval.clientId &&
  // A run that was deleted may be made again by another.
  rule.ownerToken === ownerToken &&
  (rule.scope === 'saved' || rule.runId === runId) &&
  rule.caller.kind === caller.kind &&
  rule.caller.id === caller.id;

/** The same for a rule that is said once more: it takes the place of the one before. */
function idOf({ scope, runId, ownerToken, caller, ...rule }: KeptRule): string {
  const { toolName, clientId, toolHash, bound, operands } = rule;
  const of = [scope, scope === 'run' ? runId : null, ownerToken, caller?.kind, caller?.id];
  const more = isBound(bound) ? [canonicalJson(bound), operands] : [];
  const text = JSON.stringify([...of, toolName, { clientId, toolHash }, ...more]);
  return hash('sha256', text).slice(0, 32);
}
