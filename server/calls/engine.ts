import { boundUpdate } from '#lib/call/bound-card';
import type { Actor, CallEvent } from '#lib/call/call-event';
import type { NeverStarted, Refusal } from '#lib/call/call-machine';
import type { CallRecord } from '#lib/call/call-record';
import { NO_DEADLINES, shownAt } from '#lib/call/clocks';
import { decide } from '#lib/call/decide';
import type { Effect } from '#lib/call/effects';
import { mergeCard } from '#lib/call/merge-card';
import type { CardUpdate } from '#lib/protocol/card';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { momentOf, type SteadyClock } from '../clock.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { Logger } from '../logger.ts';
import { type Change, type Store, VersionConflictError } from '../store/store.ts';
import type { CallEntry, CallRepository } from './call-repository.ts';
import { EventBatch } from './event-batch.ts';

export interface EngineDeps {
  readonly store: Pick<Store, 'write' | 'getCall'>;
  readonly bus: Pick<EventBus, 'publish'>;
  readonly clock: SteadyClock;
  readonly repository: CallRepository;
  /** What would bring the call to an executor now; undefined while there is none. */
  route(record: CallRecord, neverStarted: NeverStarted | undefined): CallEvent | undefined;
  /** Called once for each effect, when what it waits for is on disk. */
  run(effect: Effect, record: CallRecord): void;
  /** A state was decided; it may not be on disk yet. */
  onDecided(record: CallRecord, previous: CallRecord | undefined): void;
  /** A state is on disk and published; `previous` is the one that was before it. */
  onDurable(record: CallRecord, previous: CallRecord | undefined): void;
  logger: Logger;
}

interface WriteOptions {
  /** In the same write. */
  readonly more?: readonly Change[] | undefined;
  /** It may be put off for a moment, unless an effect waits for it. */
  readonly mayWait?: boolean | undefined;
}

export type Applied =
  | {
      readonly ok: true;
      readonly record: CallRecord;
      /** Resolves when the event is on disk and published. */
      readonly written: Promise<void>;
    }
  | { readonly ok: false; readonly refusal: Refusal };

/**
 * The one way in which calls change (rules CE): decide, append, publish, run the
 * effects. It has no rules of its own; `decide` has them, and `route` says who
 * could run a call. Events of one call are decided in the order of their arrival.
 */
export class CallEngine {
  readonly #deps: EngineDeps;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
  }

  /** A new call: its first event, with what follows from it, is one write. */
  create(
    call: CallRecord,
    event: CallEvent | undefined,
    actor: Actor,
    { more, mayWait }: WriteOptions = {},
  ): Applied {
    const { clock, repository } = this.#deps;
    const decision = event && decide(call, event, momentOf(clock));
    if (decision && !decision.ok) return decision;
    const entry = repository.enter(call);
    const batch = new EventBatch(call, clock.now());
    // A call that may wait is shown as such from its first update on.
    const isWaiting = decision && !isFinalStatus(decision.record.status);
    batch.addFirst(isWaiting ? decision.record : call, actor);
    if (decision && isWaiting) this.#follow(entry, batch, decision.effects);
    else if (event) this.#decide(entry, batch, event, actor);
    const applied = this.#commit(entry, undefined, batch, { more, mayWait });
    // Who made it waits for it, and reports the error.
    applied.written.catch(() => {});
    return applied;
  }

  /** Decides at once on the newest state. A refused event changes nothing. */
  apply(call: CallRecord, event: CallEvent, actor: Actor): Applied {
    const { repository, clock } = this.#deps;
    const known = repository.entry(call.id);
    const current = known?.latest ?? call;
    const batch = new EventBatch(current, clock.now());
    const decision = decide(current, event, momentOf(clock));
    if (!decision.ok) return decision;
    const entry = known ?? enterStored(repository, call);
    batch.addStatus(entry.pendingStatus);
    entry.pendingStatus = [];
    batch.add(event.type, actor, decision);
    this.#follow(entry, batch, decision.effects);
    // Its client waits for the offer to be on disk, or else the grant is an effect that waits itself.
    const applied = this.#commit(entry, current, batch, { mayWait: event.type === 'claimed' });
    applied.written.catch(this.#deps.logger.error);
    return applied;
  }

  /** Brings a call to an executor; false when it goes on waiting. */
  route(call: CallRecord, neverStarted?: NeverStarted): boolean {
    const current = this.#deps.repository.latest(call.id) ?? call;
    const event = this.#deps.route(current, neverStarted);
    return event !== undefined && this.apply(current, event, 'server').ok;
  }

  /**
   * Shows people something that changes no state, once it is on disk. What comes
   * while the call is being written waits, and shares the next write.
   */
  status(id: string, update: CardUpdate): void {
    const entry = this.#deps.repository.entry(id);
    const bounded = entry && takeIn(entry, update);
    if (!bounded) return;
    entry.pendingStatus.push(bounded);
    this.#writeStatus(entry);
  }

  /** Shows the arguments that a model is still writing: at once, as only their end is a promise. */
  sketch(id: string, update: CardUpdate): void {
    const entry = this.#deps.repository.entry(id);
    if (!entry?.durable || entry.latest.phase !== 'streaming') return;
    const bounded = takeIn(entry, update);
    if (!bounded) return;
    entry.durable = { ...entry.durable, card: mergeCard(entry.durable.card, bounded) };
    this.#publish(entry.latest, bounded);
  }

  /** The wall clock was set: of open calls, shows where their deadlines are on it now. */
  showDeadlines(): void {
    const { repository, clock } = this.#deps;
    const now = momentOf(clock);
    for (const call of repository.open()) {
      const durable = repository.entry(call.id)?.durable;
      const { clock: shown } = durable ? shownAt(durable, now).card : {};
      if (durable && shown && shown !== durable.card.clock)
        this.#publish(durable, { clock: shown });
    }
  }

  /** Whether a start is decided that has not happened: a grant that has not left, or the first run of a server tool. */
  hasUnsentStart(id: string): boolean {
    const entry = this.#deps.repository.entry(id);
    if (!entry) return false;
    const { grant, latest, durable, pendingEffects } = entry;
    if (grant) return !grant.hasLeft && grant.to.attempt === latest.provider?.attempt;
    // One that ran before this process is started again.
    return !durable?.granted && pendingEffects.some(({ effect }) => effect.type === 'run');
  }

  /** Resolves when the newest grant of the call may leave; rejects when it could not be recorded. */
  async grantReady(id: string): Promise<void> {
    const effects = this.#deps.repository.entry(id)?.pendingEffects ?? [];
    await effects.findLast(({ effect }) => effect.type === 'grant')?.happened.promise;
  }

  /** From now on the client may have its grant. */
  grantLeaves(id: string): void {
    const grant = this.#deps.repository.entry(id)?.grant;
    if (grant) grant.hasLeft = true;
  }

  #decide(entry: CallEntry, batch: EventBatch, event: CallEvent, actor: Actor): boolean {
    const decision = decide(batch.record, event, momentOf(this.#deps.clock));
    if (!decision.ok) return false;
    batch.add(event.type, actor, decision);
    this.#follow(entry, batch, decision.effects);
    return true;
  }

  /** Routing happens within the same write: a crash in between would leave a call that is never placed. */
  #follow(entry: CallEntry, batch: EventBatch, effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.type !== 'route') batch.effects.push({ effect, record: batch.record });
      else {
        const { orElse } = effect;
        const next = this.#deps.route(batch.record, undefined);
        const isRouted = next !== undefined && this.#decide(entry, batch, next, 'server');
        if (!isRouted && orElse) this.#decide(entry, batch, orElse, 'server');
      }
    }
  }

  #commit(
    entry: CallEntry,
    previous: CallRecord | undefined,
    batch: EventBatch,
    options: WriteOptions,
  ): Extract<Applied, { ok: true }> {
    const { record } = batch;
    entry.latest = record;
    entry.offerVersion = batch.offerVersion ?? entry.offerVersion;
    this.#deps.onDecided(record, previous);
    // fault point: decided
    const isNew = previous === undefined;
    const effects = batch.effects.map(({ effect, record: of }) => {
      return { effect, record: of, after: barrierOf(entry, effect, of, isNew) };
    });
    const mayWait = options.mayWait && effects.every(({ after }) => after <= entry.hastyVersion);
    const written = this.#write(entry, batch, { ...options, mayWait });
    for (const { effect, record: of, after } of effects) this.#plan(entry, effect, of, after);
    return { ok: true, record, written };
  }

  #plan(entry: CallEntry, effect: Effect, record: CallRecord, after: number): void {
    if (effect.type === 'grant' && record.provider) {
      entry.grant = { to: record.provider, version: record.version, hasLeft: false };
    }
    if (after <= (entry.durable?.version ?? 0)) this.#run(entry, effect, record);
    else {
      const happened = Promise.withResolvers<void>();
      // An effect that no caller waits for may fail with its write, which is reported.
      happened.promise.catch(() => {});
      entry.pendingEffects.push({ effect, record, after, happened });
    }
  }

  /** What has ended before its start could happen is not started (CS5). */
  #run(entry: CallEntry, effect: Effect, record: CallRecord): void {
    if (effect.type === 'run' && isFinalStatus(entry.latest.status)) return;
    this.#deps.run(effect, record);
  }

  /** Append, fsync, publish, run what waited for it: in the order of the decisions. */
  #write(
    entry: CallEntry,
    batch: EventBatch,
    { more = [], mayWait = false }: WriteOptions = {},
  ): Promise<void> {
    const { record } = batch;
    // guard: published-once-written
    entry.writes += 1;
    if (!mayWait) entry.hastyVersion = record.version;
    const written = this.#deps.store.write([...batch.changes, ...more], { mayWait }).then(
      () => {
        // fault point: written
        entry.writes -= 1;
        this.#written(entry, record, batch.updates);
        this.#writeStatus(entry);
      },
      (error) => {
        entry.writes -= 1;
        if (error instanceof VersionConflictError) this.#forget(entry, error);
        else this.#takeBack(entry, record, error);
        throw error;
      },
    );
    entry.written = written;
    return written;
  }

  #written(entry: CallEntry, record: CallRecord, updates: readonly CardUpdate[]): void {
    const previous = entry.durable;
    entry.durable = record;
    for (const update of updates) this.#publish(record, update);
    // fault point: published
    this.#deps.onDurable(record, previous);
    this.#runPending(entry, record.version);
    if (!isFinalStatus(record.status)) return;
    this.#deps.repository.wake(entry);
    this.#deps.repository.retire(entry);
  }

  #runPending(entry: CallEntry, version: number): void {
    if (entry.pendingEffects.length === 0) return;
    const due = entry.pendingEffects.filter(({ after }) => after <= version);
    entry.pendingEffects = entry.pendingEffects.filter(({ after }) => after > version);
    for (const { effect, record, happened } of due) {
      this.#run(entry, effect, record);
      happened.resolve();
    }
  }

  /** What waited for events that are not stored does not happen. */
  #dropPending(entry: CallEntry, version: number, error: unknown): void {
    const dropped = entry.pendingEffects.filter(({ after }) => after <= version);
    entry.pendingEffects = entry.pendingEffects.filter(({ after }) => after > version);
    for (const { happened } of dropped) happened.reject(error);
  }

  /** A commit that is on its way takes it along; else it is an event of its own. */
  #writeStatus(entry: CallEntry): void {
    if (entry.pendingStatus.length === 0 || entry.writes > 0) return;
    const batch = new EventBatch(entry.latest, this.#deps.clock.now());
    batch.addStatus(entry.pendingStatus);
    entry.pendingStatus = [];
    entry.latest = batch.record;
    this.#write(entry, batch).catch(this.#deps.logger.error);
  }

  #publish({ id, runId }: CallRecord, update: CardUpdate): void {
    this.#deps.bus.publish({ type: 'call', tool_call_id: id, run_id: runId, update });
  }

  /**
   * A write that was rejected alone (ST6): what was decided in it is void, and what
   * came after it goes on. A later decision is rejected in turn, as it follows none.
   */
  #takeBack(entry: CallEntry, record: CallRecord, error: unknown): void {
    const { repository, onDecided } = this.#deps;
    this.#dropPending(entry, record.version, error);
    if (!entry.durable) {
      repository.forget(entry);
      repository.wake(entry);
      onDecided(asWithdrawn(record), record);
    } else if (entry.latest.version === record.version) {
      const waiting = entry.pendingStatus;
      entry.pendingStatus = [];
      entry.latest = entry.durable;
      onDecided(entry.latest, record);
      for (const update of waiting) this.status(record.id, update);
      repository.retire(entry);
    }
  }

  /** Another writer was first (rule CE4): what was decided here is void, and its effects do not happen. */
  #forget(entry: CallEntry, error: VersionConflictError): void {
    const { repository, store, onDecided, logger } = this.#deps;
    const { latest } = entry;
    this.#dropPending(entry, Infinity, error);
    entry.pendingStatus = [];
    repository.forget(entry);
    store
      .getCall(latest.id)
      .then((stored) => {
        if (stored && !repository.entry(latest.id)) {
          repository.adopt(stored);
          onDecided(stored, latest);
          this.#grantAgain(entry, stored);
        }
        repository.passOnWaiters(entry);
      })
      .catch(logger.error);
  }

  /** A grant that left by an event that is void now: its client runs the tool, so that the newer state is granted, too. */
  #grantAgain({ grant, durable }: CallEntry, stored: CallRecord): void {
    if (!grant?.hasLeft || grant.version <= (durable?.version ?? 0)) return;
    const { clientId, instanceId, attempt } = grant.to;
    const from = { clientId, instanceId, attempt };
    const applied = this.apply(stored, { type: 'claimed', from }, `client:${clientId}`);
    if (applied.ok) this.grantLeaves(stored.id);
  }
}

/** The version that has to be on disk before the effect; 0 for none. */
function barrierOf(entry: CallEntry, effect: Effect, record: CallRecord, isNew: boolean): number {
  const barrier = 'after' in effect ? effect.after : 'nothing';
  if (barrier === 'nothing' || (barrier === 'creation' && isNew)) return 0;
  return barrier === 'offer' ? entry.offerVersion : record.version;
}

/** For those who follow decisions: there is no such call any more. */
const asWithdrawn = (call: CallRecord): CallRecord => ({
  ...call,
  status: 'FAILED',
  phase: null,
  deadlines: NO_DEADLINES,
});

/** One that has ended and left memory: what is stored is what is shown of it. */
function enterStored(repository: CallRepository, call: CallRecord): CallEntry {
  const entry = repository.enter(call);
  entry.durable = call;
  return entry;
}

/** Takes an update into what has been decided. As people see it; undefined when that changes nothing. */
function takeIn(entry: CallEntry, update: CardUpdate): CardUpdate | undefined {
  const { latest } = entry;
  if (isFinalStatus(latest.status)) return undefined;
  const bounded = boundUpdate(latest.card, update);
  const card = mergeCard(latest.card, bounded);
  // Of two previews that begin alike and are equally long, the card is the same.
  if (card === latest.card && typeof bounded.preview_bytes !== 'number') return undefined;
  const { preview = latest.preview } = update;
  entry.latest = { ...latest, card, preview };
  return bounded;
}
