import { hash } from 'node:crypto';
import type { CallEvent, EventFields } from '#lib/call/call-event';
import type { CallRecord } from '#lib/call/call-record';
import type { WaitingApprovals } from '#lib/call/waiting-approvals';
import { canonicalJson } from '#lib/json/canonical-json';
import type { AskedLately } from './asked-lately.ts';
import type { Withholding } from './withholding.ts';

/** What stands for the arguments in the key of a question. */
export type Questions = Pick<Withholding, 'forQuestion'>;

/** The ids of calls by their question, in the order in which they began to wait. */
type IdsByKey = Map<string, Set<string>>;

export interface OpenApprovalsDeps {
  /** The run that a person or a program began, of one that may be a sub-agent's. */
  rootOf(runId: string): string;
  readonly lately: Pick<AskedLately, 'of' | 'count'>;
}

/** Which calls wait for a person's decision, and which of them are one question (rules CA43, CA44). */
export class OpenApprovals {
  readonly #deps: OpenApprovalsDeps;
  readonly #byScope = new Map<string, IdsByKey>();
  /** Of the calls that wait. A run that has ended has no root any more, and its calls may wait on. */
  readonly #scopes = new Map<string, readonly string[]>();

  constructor(deps: OpenApprovalsDeps) {
    this.#deps = deps;
  }

  update(call: CallRecord, previous: CallRecord | undefined, isAdopted: boolean): void {
    const was = previous && keyOf(previous);
    const is = keyOf(call);
    if (was === is) return;
    // Neither its run nor its caller changes.
    const scopes = this.#scopesOf(call);
    for (const scope of scopes) {
      if (was !== undefined) this.#remove(scope, was, call.id);
      if (is !== undefined) this.#add(scope, is, call.id);
    }
    if (is === undefined) this.#scopes.delete(call.id);
    else this.#scopes.set(call.id, scopes);
    const isAsked = was === undefined && !isAdopted && this.sameAs(call).length === 1;
    if (isAsked) this.#deps.lately.count(scopes); // CA46
  }

  /** The event, with what waits now where that decides on it. */
  besides(call: CallRecord, event: CallEvent): CallEvent {
    if (event.type !== 'arguments_complete' || event.check !== 'ask') return event;
    const scopes = this.#scopesOf(call);
    const [ofRun, ofCaller] = scopes.map((scope) => this.#byScope.get(scope));
    const key = event.shown?.approval_key;
    const waiting: WaitingApprovals = {
      equal: (key && ofRun?.get(key)?.size) || 0,
      ofRun: ofRun?.size ?? 0,
      ofCaller: ofCaller?.size ?? 0,
      lately: this.#deps.lately.of(scopes),
    };
    return { ...event, waiting };
  }

  /** All that one decision on this call decides: itself, and the calls that wait for the same. */
  sameAs(call: CallRecord): readonly string[] {
    const key = keyOf(call);
    const [ofRun = ''] = this.#scopesOf(call);
    const equal = key && this.#byScope.get(ofRun)?.get(key);
    return [call.id, ...[...(equal ?? [])].filter((id) => id !== call.id)];
  }

  /** Its run, and its caller where that is a program: one could name any number of runs. */
  #scopesOf(call: CallRecord): readonly string[] {
    const { id, runId, requestedBy, ownerToken } = call;
    const known = this.#scopes.get(id);
    if (known) return known;
    const isProgram = requestedBy.startsWith('agent:') || requestedBy.startsWith('device:');
    const caller = isProgram ? [`caller:${JSON.stringify([requestedBy, ownerToken])}`] : [];
    return [`run:${this.#deps.rootOf(runId)}`, ...caller];
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
