import type { Call } from '#lib/call/call';
import type { Via } from '#lib/call/call-event';
import {
  actionOnReturn,
  type ClientKnowledge,
  type JournalEntry,
  onReturn,
  type ReturningClient,
} from '#lib/call/resume-matrix';
import type { CallParts } from './call-parts.ts';
import { clientActor } from './client-calls.ts';

export interface ReturningInstance extends ReturningClient {
  readonly known: readonly ({ readonly id: string } & JournalEntry)[];
  readonly via?: Via | undefined;
}

/** Calls when client instances go, come back, or offer other tools. */
export class ClientInstances {
  readonly #deps: CallParts;
  readonly #waiting: WaitingCalls;

  constructor(deps: CallParts, waiting: WaitingCalls) {
    this.#deps = deps;
    this.#waiting = waiting;
  }

  disconnected(instanceId: string): void {
    const { index, repository, breaker, engine } = this.#deps;
    // It is the server that disconnects all clients; the next start waits for them.
    if (this.#deps.isStopped) return;
    index.dropReoffers(instanceId);
    const held = index.pinnedTo(instanceId).flatMap((id) => repository.latest(id) ?? []);
    // However many calls it held, it left once.
    const broken = new Set(held.filter(({ granted }) => granted).map(({ toolName }) => toolName));
    for (const toolName of broken) breaker.failed(instanceId, toolName);
    for (const call of held)
      engine.apply(call, { type: 'client_left' }, `client:${clientOf(call)}`);
    this.#waiting.askAgain();
  }

  /** Resolves with what the client may forget and shall stop. */
  async back(instance: ReturningInstance): Promise<{ forget: string[]; cancel: string[] }> {
    const { index, repository } = this.#deps;
    const known = new Map(instance.known.map((one) => [one.id, one]));
    const forget: string[] = [];
    const cancel: string[] = [];
    const pinned = index.pinnedTo(instance.instanceId);
    for (const id of new Set([...pinned, ...known.keys()])) {
      const call = await repository.find(id);
      const { mine, knowledge, action } = onReturn(call, known.get(id), instance);
      if (action === 'forget') forget.push(id);
      else if (action === 'cancel') cancel.push(id);
      if (mine) this.#comeBack(mine, knowledge, instance);
    }
    // A client that forgets an end which a crash then undoes would run the call again.
    await Promise.all([...forget, ...cancel].map((id) => repository.settled(id)));
    return { forget, cancel };
  }

  #comeBack(call: Call, knowledge: ClientKnowledge, instance: ReturningInstance): void {
    const { engine, breaker } = this.#deps;
    const { instanceId } = instance;
    const isLost = actionOnReturn(call, knowledge) === 'outcome_unknown';
    // Its leaving counted already, unless it was back before that was seen.
    if (isLost && !('resume' in call.deadlines)) breaker.failed(instanceId, call.toolName);
    engine.apply(call, { type: 'client_back', instanceId, knowledge }, clientActor(instance));
  }

  /** Its tools stand, or it may be asked again: what waited for it is offered. `withdrawn` are tools of it that are no more. */
  toolsChanged(instanceId: string, withdrawn: readonly string[] = []): void {
    this.#reoffer(instanceId);
    this.#waiting.offerChanged(instanceId);
    this.#waiting.offerTo(instanceId, withdrawn);
  }

  #reoffer(instanceId: string): void {
    const { index, repository, engine } = this.#deps;
    index.reofferAll(instanceId, (id, neverStarted) => {
      const call = repository.latest(id);
      return !call || engine.route(call, neverStarted);
    });
  }

  /**
   * None of its instances comes back: what none of them took goes to others, and the rest ends now
   * as at the end of the time in which they might have. Its tools are gone before.
   */
  revoked(clientId: string): void {
    const { index, repository, engine } = this.#deps;
    const held = () =>
      index
        .openIds()
        .flatMap((id) => repository.latest(id) ?? [])
        .filter(({ provider }) => provider?.clientId === clientId);
    for (const call of held()) engine.apply(call, { type: 'client_left' }, 'server');
    const ended = { type: 'clock', clock: 'resume', isRevoked: true } as const;
    for (const call of held()) engine.apply(call, ended, 'server');
    this.#waiting.askAgain();
  }

  /** True when open calls are pinned to it, here or away. */
  holdsCalls(instanceId: string): boolean {
    return this.#deps.index.holdsCalls(instanceId);
  }
}

const clientOf = ({ provider }: Call): string => provider?.clientId ?? '';

/** Offers calls that wait, when who could take them has changed. */
export class WaitingCalls {
  readonly #deps: CallParts;

  constructor(deps: CallParts) {
    this.#deps = deps;
  }

  /** Offers what waits for this instance: calls of its tools, and of those that it has just withdrawn. */
  offerTo(instanceId: string, withdrawn: readonly string[]): void {
    const facts = this.#deps.facts(instanceId);
    if (!facts) return;
    const names = new Set([...this.#deps.registry.namesOf(instanceId), ...withdrawn]);
    const ids = this.#deps.index.waitingFor(facts.clientId, names);
    for (const call of this.#latest(ids)) this.#deps.engine.route(call);
  }

  /** Starts what waits for these tools, which run inside the server. */
  insideChanged(names: readonly string[]): void {
    for (const call of this.#latest(this.#deps.index.waitingFor(null, names)))
      this.#deps.engine.route(call);
  }

  /** A person is asked again about what was allowed for a client that has left meanwhile. */
  askAgain(): void {
    for (const call of this.#latest(this.#deps.index.bound())) this.#deps.engine.route(call);
  }

  /** Routes anew what this instance was offered, and has not taken, under other terms of its tool. */
  offerChanged(instanceId: string): void {
    for (const call of this.#latest(this.#deps.index.pinnedTo(instanceId))) {
      const isUntaken = call.phase === 'offered' && !call.granted;
      if (isUntaken && this.#deps.router.isOfferOutdated(call, instanceId))
        this.#deps.engine.route(call);
    }
  }

  #latest(ids: readonly string[]): Call[] {
    return ids.flatMap((id) => this.#deps.repository.latest(id) ?? []);
  }
}
