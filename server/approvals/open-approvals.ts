import { hash } from 'node:crypto';
import { hasRoom, type WaitingApprovals } from '#lib/approval/waiting-approvals';
import type { Call } from '#lib/call/call';
import type { CallEvent, EventFields } from '#lib/call/call-event';
import { canonicalJson } from '#lib/json/equal';
import type { Withholding } from '../secrets/room.ts';
import type { AskedLately } from './asked-lately.ts';
import type { CallersOfCalls } from './caller-of-call.ts';

/** The ids of calls by their question, in the order in which they began to wait. */
type IdsByKey = Map<string, Set<string>>;

interface OpenApprovalsDeps {
  /** The run that a person or a program began, of one that may be a sub-agent's. */
  rootOf(runId: string): string;
  /** Whose the run of a call is. */
  readonly callers: CallersOfCalls;
  readonly lately: AskedLately;
  /** So many questions of a run, or of a program, are shown at once. */
  readonly atOnce: number;
}

interface Scopes {
  readonly run: string;
  /** A program has it: one could name any number of runs. */
  readonly caller: string | undefined;
  /** Calls of runs that a program began have it: it could begin any number. */
  readonly owner: string | undefined;
}

/** Which calls wait for a person's decision, or for their turn, and which of them are one question (rules CA43, CA44, CA71). */
export class OpenApprovals {
  readonly #deps: OpenApprovalsDeps;
  /** By phase and scope. */
  readonly #byScope = new Map<string, IdsByKey>();
  /** The calls that wait have them. A run that has ended has no root any more, and its calls may wait on. */
  readonly #scopes = new Map<string, Scopes>();

  readonly #listeners: ((callId: string) => void)[] = [];

  constructor(deps: OpenApprovalsDeps) {
    this.#deps = deps;
  }

  /** Called with a call that waited for its turn to be shown, once that has come. */
  onTurn(listener: (callId: string) => void): void {
    this.#listeners.push(listener);
  }

  update(call: Call, previous: Call | undefined, isAdopted: boolean): void {
    const was = previous && placeOf(previous);
    const is = placeOf(call);
    if (was?.phase === is?.phase && was?.key === is?.key) return;
    // Neither its run nor its caller changes.
    const scopes = this.#scopesOf(call);
    this.#move(call.id, scopes, was, is);
    const isShown = is?.phase === 'approval' && was?.phase !== 'approval';
    if (isShown && !isAdopted) this.#countAsked(call, scopes);
    const isHeldThere = listed(scopes).some((scope) => this.#sizeOf(scope, 'held') > 0);
    // Not within the decision that it follows from.
    if (isHeldThere && (was || isAdopted)) queueMicrotask(() => this.#letIn(scopes));
  }

  #move(id: string, scopes: Scopes, was: Place | undefined, is: Place | undefined): void {
    for (const scope of listed(scopes)) {
      if (was) this.#remove(`${was.phase} ${scope}`, was.key, id);
      if (is) this.#add(`${is.phase} ${scope}`, is.key, id);
    }
    if (is) this.#scopes.set(id, scopes);
    else this.#scopes.delete(id);
  }

  /** A question that waits already is not asked once more (CA46). */
  #countAsked(call: Call, scopes: Scopes): void {
    if (this.sameAs(call).length === 1) this.#deps.lately.count(countedOf(scopes));
  }

  /** The event, with what waits now where that decides on it. */
  readonly besides = (call: Call, event: CallEvent): CallEvent => {
    if (event.type !== 'arguments_complete' || event.check !== 'ask') return event;
    const scopes = this.#scopesOf(call);
    const equal = (phase: Place['phase']) =>
      this.#equal(scopes, { phase, key: event.shown?.approval_key ?? '' })?.size ?? 0;
    const waiting: WaitingApprovals = {
      ...this.#shown(scopes),
      equal: equal('approval') + equal('held'),
      isEqualHeld: equal('held') > 0,
      held: Math.max(...listed(scopes).map((scope) => this.#sizeOf(scope, 'held'))),
      lately: this.#deps.lately.of(countedOf(scopes)),
    };
    return { ...event, waiting };
  };

  /** All that one decision on this call decides: itself, and the calls that wait for the same. */
  sameAs(call: Call): readonly string[] {
    const place = placeOf(call);
    const equal = place && this.#equal(this.#scopesOf(call), place);
    return [call.id, ...[...(equal ?? [])].filter((id) => id !== call.id)];
  }

  /** Where there is room now, those that wait for their turn are shown, the oldest first. */
  #letIn(scopes: Scopes): void {
    const held = listed(scopes).flatMap((scope) => [
      ...(this.#byScope.get(`held ${scope}`)?.values() ?? []),
    ]);
    for (const [first, ...equal] of held.map((ids) => [...ids])) {
      const own = first === undefined ? undefined : this.#scopes.get(first);
      if (first === undefined || !own || !hasRoom(this.#shown(own))) continue;
      for (const id of [first, ...equal]) for (const show of this.#listeners) show(id);
    }
  }

  #shown(scopes: Scopes) {
    return {
      ofRun: this.#sizeOf(scopes.run),
      ofCaller: this.#sizeOf(scopes.caller),
      ofOwner: this.#sizeOf(scopes.owner),
      atOnce: this.#deps.atOnce,
    };
  }

  #equal({ run }: Scopes, { phase, key }: Place): ReadonlySet<string> | undefined {
    return this.#byScope.get(`${phase} ${run}`)?.get(key);
  }

  #scopesOf(call: Call): Scopes {
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

  #sizeOf(scope: string | undefined, phase: Place['phase'] = 'approval'): number {
    return this.#byScope.get(`${phase} ${scope}`)?.size ?? 0;
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

const listed = ({ run, caller, owner }: Scopes): readonly string[] =>
  [run, caller, owner].filter((scope) => scope !== undefined);

/** Where a call waits, and for which question. */
interface Place {
  readonly phase: 'approval' | 'held';
  readonly key: string;
}

/** Undefined while it waits for no decision. One of before has no key, and is a question of its own. */
const placeOf = ({ phase, card, id }: Call): Place | undefined =>
  phase === 'approval' || phase === 'held' ? { phase, key: card.approval_key ?? id } : undefined;

/** The same for calls that a person need not be asked about one by one. `call` has the whole arguments. */
export function approvalKey(
  withholding: Withholding,
  call: Call,
  fields: EventFields,
  reason: string,
): string {
  const asked = { ...call, ...fields };
  const { runId, requestedBy, ownerToken, toolName, wantedClientId, routing } = asked;
  const question = [
    ...[runId, requestedBy, ownerToken, toolName, wantedClientId],
    ...[routing.approval, withholding.forQuestion(asked), reason],
    ...(routing.operands ?? []),
  ];
  return hash('sha256', canonicalJson(question)).slice(0, 32);
}
