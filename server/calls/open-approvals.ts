import { hash } from 'node:crypto';
import type { CallEvent, EventFields } from '#lib/call/call-event';
import type { CallRecord } from '#lib/call/call-record';
import type { WaitingApprovals } from '#lib/call/waiting-approvals';
import { canonicalJson } from '#lib/json/canonical-json';
import type { AskedLately } from './asked-lately.ts';
import type { CallersOfCalls } from './caller-of-call.ts';
import type { Withholding } from './withholding.ts';

/** What stands for the arguments in the key of a question. */
export type Questions = Pick<Withholding, 'forQuestion'>;

/** The ids of calls by their question, in the order in which they began to wait. */
type IdsByKey = Map<string, Set<string>>;

export interface OpenApprovalsDeps {
  /** The run that a person or a program began, of one that may be a sub-agent's. */
  rootOf(runId: string): string;
  /** Whose the run of a call is. */
  readonly callers: Pick<CallersOfCalls, 'callerOf'>;
  readonly lately: Pick<AskedLately, 'of' | 'count'>;
}

interface Scopes {
  readonly run: string;
  /** Of a program: one could name any number of runs. */
  readonly caller: string | undefined;
  /** Of the calls of runs that a program began: it could begin any number. */
  readonly owner: string | undefined;
}

/** Which calls wait for a person's decision, and which of them are one question (rules CA43, CA44). */
export class OpenApprovals {
  readonly #deps: OpenApprovalsDeps;
  readonly #byScope = new Map<string, IdsByKey>();
  /** Of the calls that wait. A run that has ended has no root any more, and its calls may wait on. */
  readonly #scopes = new Map<string, Scopes>();

  constructor(deps: OpenApprovalsDeps) {
    this.#deps = deps;
  }

  update(call: CallRecord, previous: CallRecord | undefined, isAdopted: boolean): void {
    const was = previous && keyOf(previous);
    const is = keyOf(call);
    if (was === is) return;
    // Neither its run nor its caller changes.
    const scopes = this.#scopesOf(call);
    for (const scope of [scopes.run, scopes.caller, scopes.owner]) {
      if (scope === undefined) continue;
      if (was !== undefined) this.#remove(scope, was, call.id);
      if (is !== undefined) this.#add(scope, is, call.id);
    }
    if (is === undefined) this.#scopes.delete(call.id);
    else this.#scopes.set(call.id, scopes);
    const isAsked = was === undefined && !isAdopted && this.sameAs(call).length === 1;
    if (isAsked) this.#deps.lately.count(countedOf(scopes)); // CA46
  }

  /** The event, with what waits now where that decides on it. */
  besides(call: CallRecord, event: CallEvent): CallEvent {
    if (event.type !== 'arguments_complete' || event.check !== 'ask') return event;
    const scopes = this.#scopesOf(call);
    const key = event.shown?.approval_key;
    const waiting: WaitingApprovals = {
      equal: (key && this.#byScope.get(scopes.run)?.get(key)?.size) || 0,
      ofRun: this.#sizeOf(scopes.run),
      ofCaller: this.#sizeOf(scopes.caller),
      ofOwner: this.#sizeOf(scopes.owner),
      lately: this.#deps.lately.of(countedOf(scopes)),
    };
    return { ...event, waiting };
  }

  /** All that one decision on this call decides: itself, and the calls that wait for the same. */
  sameAs(call: CallRecord): readonly string[] {
    const key = keyOf(call);
    const equal = key && this.#byScope.get(this.#scopesOf(call).run)?.get(key);
    return [call.id, ...[...(equal ?? [])].filter((id) => id !== call.id)];
  }

  #scopesOf(call: CallRecord): Scopes {
    const { id, runId, requestedBy, ownerToken } = call;
    const known = this.#scopes.get(id);
    if (known) return known;
    const isProgram = requestedBy.startsWith('agent:') || requestedBy.startsWith('device:');
    const isOfRun = requestedBy.startsWith('run:');
    const isOwned = isOfRun && this.#deps.callers.callerOf(ownerToken)?.kind === 'agent';
    return {
      run: `run:${this.#deps.rootOf(runId)}`,
      caller: isProgram ? `caller:${JSON.stringify([requestedBy, ownerToken])}` : undefined,
      owner: isOwned ? `owner:${ownerToken}` : undefined,
    };
  }

  #sizeOf(scope: string | undefined): number {
    return (scope !== undefined && this.#byScope.get(scope)?.size) || 0;
  }

  #add(scope: string, key: string, id: string): void {
    const questions = this.#byScope.get(scope) ?? new Map<string, Set<string>>();
    this.#byScope.set(scope, questions);
    questions.set(key, (questions.get(key) ?? new Set()).add(id));
  }

  #remove(scope: string, key: string, id: string): void {
    const questions = this.#byScope.get(scope);
    const ids = questions?.get(key);
    if (ids?.delete(id) && ids.size === 0) questions?.delete(key);
    if (questions?.size === 0) this.#byScope.delete(scope);
  }
}

const countedOf = ({ run, caller }: Scopes): readonly string[] =>
  caller === undefined ? [run] : [run, caller];

/** Undefined while it waits for no decision. One of before has no key, and is a question of its own. */
const keyOf = ({ phase, card, id }: CallRecord): string | undefined =>
  phase === 'approval' ? (card.approval_key ?? id) : undefined;

/** The same for calls that a person need not be asked about one by one. `call` has the whole arguments. */
export function approvalKey(
  questions: Questions,
  call: CallRecord,
  fields: EventFields,
  reason: string,
): string {
  const asked = { ...call, ...fields };
  const { runId, requestedBy, ownerToken, toolName, wantedClientId, routing } = asked;
  const question = [
    ...[runId, requestedBy, ownerToken, toolName, wantedClientId],
    ...[routing.approval, questions.forQuestion(asked), reason],
    ...(routing.operands ?? []),
  ];
  return hash('sha256', canonicalJson(question)).slice(0, 32);
}
