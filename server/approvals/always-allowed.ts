import { hash } from 'node:crypto';
import { z } from 'zod';
import type { ApprovalScope, Call } from '#lib/call/call';
import { FairMap } from '#lib/limits/fair-map';
import { matchTools } from '#lib/policy/match';
import { type AlwaysCaller, type AlwaysOffer, alwaysCallerSchema } from '#lib/protocol/card';
import { ALWAYS_SCOPES, type AlwaysScope } from '#lib/protocol/rest';
import { given } from '#lib/util/given';
import { callerOf, type Principal, principalKey, principalName } from '../auth/room.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { KeptArea, type Store } from '../store/room.ts';
import type { OfferedTool } from '../tools/room.ts';

/** Beyond them the caller with the most loses the oldest of its own: that is asked again. */
const MOST_RULES = 1_000;

/** A saved rule without an end of its own. */
const SAVED_MS = 30 * 24 * 3_600_000;

/** Its use is written down to the minute. */
const USED_EVERY_MS = 60_000;

/** Their arguments are programs and addresses of any kind: a yes to one is none to the next (T74). */
const isNeverAlways = matchTools(['shell', 'http.request', 'run_code']);

/** Kept under its id; those of before have neither a scope, an owner, a caller, an end nor who allowed it. */
const ruleSchema = z.object({
  scope: z.enum(ALWAYS_SCOPES).default('run'),
  runId: z.string(),
  ownerToken: z.string().nullable().default(null),
  caller: alwaysCallerSchema.nullable().default(null),
  toolName: z.string(),
  clientId: z.string().nullable(),
  toolHash: z.string(),
  allowedAt: z.number(),
  allowedBy: z.string().default('operator'),
  expiresAt: z.number().nullable().default(null),
  lastUsedAt: z.number().nullable().default(null),
});

/** What an operator said "always" to: calls of this tool, of this client, in this run are not asked about. */
export interface AlwaysRule {
  readonly id: string;
  readonly runId: string;
  readonly toolName: string;
  /** Null: the server's own tool. */
  readonly clientId: string | null;
  /** Of the tool as it was shown. */
  readonly toolHash: string;
  readonly scope: AlwaysScope;
  /** Of the run; with `saved` it holds for all runs of this one. */
  readonly ownerToken: string | null;
  readonly caller: AlwaysCaller;
  /** Milliseconds since the epoch. */
  readonly allowedAt: number;
  readonly allowedBy: string;
  /** Null: when it is withdrawn. */
  readonly expiresAt: number | null;
  /** To the minute; null: not yet. */
  readonly lastUsedAt: number | null;
}

/** How far an "always" reaches: this run without an end, where nothing else is given. */
export interface AlwaysTerms {
  readonly scope?: AlwaysScope;
  readonly forMs?: number;
}

interface AlwaysAllowedDeps {
  readonly store: Pick<Store, 'write' | 'listKept'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

type AskedCall = Pick<Call, 'runId' | 'ownerToken' | 'toolName' | 'routing'>;

/** For whom a call is made, by what is never given to another. */
export const alwaysCaller = (principal: Principal): AlwaysCaller => {
  const askedBy = principal.kind === 'run' ? principal.askedBy : undefined;
  const caller = askedBy ?? callerOf(principal);
  return { kind: principal.kind, name: principalName(caller), id: principalKey(caller) };
};

/** What "always" would allow, as a card shows it; null: it cannot be said. */
export function alwaysOffer(
  { runId, toolName }: Pick<Call, 'runId' | 'toolName'>,
  { clientId, toolHash, neverAlways }: Pick<OfferedTool, keyof ApprovalScope | 'neverAlways'>,
  caller: AlwaysCaller | undefined,
): AlwaysOffer | null {
  if (neverAlways || isNeverAlways(toolName)) return null;
  const offer = { tool_name: toolName, client_id: clientId, run_id: runId, tool_hash: toolHash };
  return { ...offer, ...given({ caller }) };
}

/** The rules that operators made of approvals (CA8). They hold until they are withdrawn, over restarts too. */
export class AlwaysAllowed {
  readonly #kept: KeptArea<z.infer<typeof ruleSchema>>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #rules = new FairMap<AlwaysRule>(MOST_RULES);

  constructor({ store, clock, logger }: AlwaysAllowedDeps) {
    this.#clock = clock;
    this.#logger = logger;
    this.#kept = new KeptArea({ store, area: 'always', schema: ruleSchema, now: clock.now });
  }

  /** Takes up what an earlier server kept. Once, before anything is asked. */
  async load(): Promise<void> {
    const kept = await this.#kept.load();
    // In the order in which they were allowed, and not in which they were used.
    for (const { key, value } of kept.toSorted((a, b) => a.value.allowedAt - b.value.allowedAt)) {
      const { caller } = value;
      if (caller) this.#rules.put(caller.id, key, { ...value, caller, id: key });
    }
    // For whom those of before were is not known for sure: such calls are asked about again.
    const lapsed = kept.filter(({ value }) => value.caller === null);
    if (lapsed.length > 0) await this.#kept.change(lapsed.map(({ key }) => ({ key })));
  }

  /** Whether such a call is not asked about. Counts as a use of the rule. */
  has(call: AskedCall, caller: AlwaysCaller): boolean {
    if (isNeverAlways(call.toolName)) return false;
    const now = this.#clock.now();
    for (const scope of ALWAYS_SCOPES) {
      const rule = this.#rules.get(idOf(scope, call, caller));
      if (rule === undefined || hasExpired(rule, now)) continue;
      this.#touch(rule, now);
      return true;
    }
    return false;
  }

  /** In the write of the call that follows. */
  #touch(rule: AlwaysRule, now: number): void {
    if (rule.lastUsedAt !== null && now - rule.lastUsedAt < USED_EVERY_MS) return;
    const { id, ...value } = { ...rule, lastUsedAt: now };
    this.#rules.replace(id, { ...value, id });
    this.#kept.change([{ key: id, value }]).catch(this.#logger.error);
  }

  /** Holds at once; resolves when it is on disk. */
  async add(
    call: AskedCall,
    caller: AlwaysCaller,
    terms: AlwaysTerms,
    allowedBy: string,
  ): Promise<void> {
    const { runId, ownerToken, toolName, routing } = call;
    const { approval } = routing;
    if (approval === null || isNeverAlways(toolName)) return;
    const { scope = 'run', forMs = scope === 'saved' ? SAVED_MS : null } = terms;
    const id = idOf(scope, call, caller);
    const allowedAt = this.#clock.now();
    const expiresAt = forMs === null ? null : allowedAt + forMs;
    const rule = {
      scope,
      runId,
      ownerToken,
      caller,
      toolName,
      ...approval,
      allowedAt,
      allowedBy,
      expiresAt,
      lastUsedAt: null,
    };
    const expired = this.#rules.values().filter((one) => hasExpired(one, allowedAt));
    for (const one of expired) this.#rules.delete(one.id);
    const forgotten = this.#rules.put(caller.id, id, { ...rule, id });
    const dropped = expired.map((one) => one.id).concat(forgotten ?? []);
    const deleted = dropped.filter((key) => key !== id).map((key) => ({ key }));
    await this.#kept.change([{ key: id, value: rule }, ...deleted]);
  }

  list(): AlwaysRule[] {
    const now = this.#clock.now();
    return this.#rules.values().filter((rule) => !hasExpired(rule, now));
  }

  async withdraw(id: string): Promise<AlwaysRule | undefined> {
    const rule = this.#rules.get(id);
    if (!rule) return undefined;
    this.#rules.delete(id);
    await this.#kept.change([{ key: id }]);
    return rule;
  }
}

const hasExpired = ({ expiresAt }: AlwaysRule, now: number): boolean =>
  expiresAt !== null && expiresAt <= now;

/**
 * A saved one is for the calls of all runs with the same owner. Each is for who called: what an agent
 * calls in a run is not what a person was asked about there.
 */
const idOf = (scope: AlwaysScope, call: AskedCall, caller: AlwaysCaller): string => {
  const { runId, ownerToken, toolName, routing } = call;
  // A run that was deleted may be made again by another.
  const of = [scope, scope === 'run' ? runId : null, ownerToken, caller.kind, caller.id];
  return hash('sha256', JSON.stringify([...of, toolName, routing.approval])).slice(0, 32);
};
