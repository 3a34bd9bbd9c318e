import type { Call } from '#lib/call/call';
import type { Actor, CallEvent } from '#lib/call/call-event';
import type { Answerer, NeverStarted, Rejected } from '#lib/call/call-state';
import { shownAt } from '#lib/call/clocks';
import { decide } from '#lib/call/decide';
import type { Effect } from '#lib/call/effects';
import {
  addDecision,
  beginWith,
  type DecidedEffect,
  grantedByVoid,
  happensNow,
  hasUnsentStart,
  isStillWanted,
  type PlannedEffect,
  type Rules,
  recoveredByVoid,
  takeDecided,
  takePending,
  takeVoid,
} from '#lib/call/engine-loop';
import { mergeCard } from '#lib/call/merge-card';
import type { CardUpdate } from '#lib/protocol/card';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { SteadyClock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { AnnounceCall, Announcement } from '../notices/room.ts';
import type { Withholding } from '../secrets/room.ts';
import { type Change, type Store, StoreFailedError, VersionConflictError } from '../store/room.ts';
import type { OfferedTool } from '../tools/room.ts';
import type { CallEntry, CallRepository, PendingEffect } from './call-repository.ts';
import { EventBatch, joinStatus, takeStatus } from './event-batch.ts';

export interface EngineDeps {
  readonly store: Pick<Store, 'write' | 'getCall'>;
  /** An event of a call is on disk, and watchers and followers are sent it. */
  publish(call: Call, update: CardUpdate): void;
  readonly clock: SteadyClock;
  readonly repository: CallRepository;
  /** Takes out what is secret, before anything is decided. */
  readonly withholding: Withholding;
  /** The event, with what its decision needs of other calls. */
  besides(record: Call, event: CallEvent): CallEvent;
  /** The event that would bring the call to an executor now; undefined while there is none. */
  route(record: Call, neverStarted: NeverStarted | undefined): CallEvent | undefined;
  /** Called once for each effect, when what it waits for is on disk. */
  run(effect: Effect, record: Call): void;
  /** A state was decided; it may not be on disk yet. */
  onDecided(record: Call, previous: Call | undefined): void;
  /** People, and those who may read the call, are shown something of its work. */
  onShown?(record: Call): void;
  /** The same write has what goes to others outside; without it nothing does. */
  readonly announce?: AnnounceCall | undefined;
  /** A state is on disk and published; `previous` is the one that was before it. */
  onDurable(record: Call, previous: Call | undefined): void;
  logger: Logger;
}

interface WriteOptions {
  /** In the same write. */
  readonly more?: readonly Change[] | undefined;
  /** It may be put off for a moment, unless an effect waits for it. */
  readonly mayWait?: boolean | undefined;
  readonly announced?: Announcement | undefined;
}

export type Applied =
  | {
      readonly ok: true;
      readonly record: Call;
      /** Resolves when the event is on disk and published. */
      readonly written: Promise<void>;
    }
  | Rejected;

/**
 * The one way in which calls change (rules CE): decide, append, publish, run the
 * effects. It has no rules of its own; `decide` has them, and `route` says who
 * could run a call. Events of one call are decided in the order of their arrival.
 */
export class CallEngine {
  readonly #deps: EngineDeps;
  readonly #rules: Rules;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.#rules = { decide, route: (record) => deps.route(record, undefined) };
  }

  /** A new call: its first event, with what follows from it, is one write. */
  create(
    given: Call,
    asked: CallEvent | undefined,
    actor: Actor,
    { more, mayWait, tool }: WriteOptions & { readonly tool?: OfferedTool } = {},
  ): Applied {
    const { clock, repository, withholding } = this.#deps;
    // Secrets are taken out before anything is decided, so that no event has them.
    const call = withholding.ofCall(given, tool);
    const event = asked && this.#complete(call, asked);
    const now = clock.moment();
    const batch = new EventBatch(call, now.wall);
    const rejected = beginWith(batch, event, actor, this.#rules, now);
    if (rejected) return rejected;
    const entry = repository.enter(call);
    const applied = this.#commit(entry, undefined, batch, { more, mayWait });
    // Its maker waits for it, and reports the error.
    applied.written.catch(() => {});
    return applied;
  }

  /** Why an event would be refused now; undefined: it would not. */
  refusalOf(call: Call, event: CallEvent): Rejected | undefined {
    const current = this.#deps.repository.latest(call.id) ?? call;
    const decision = decide(current, event, this.#deps.clock.moment());
    return decision.ok ? undefined : decision;
  }

  /** Decides at once on the newest state. A refused event changes nothing. `more` is in the same write. */
  apply(call: Call, given: CallEvent, actor: Actor, more?: () => readonly Change[]): Applied {
    const { repository, clock } = this.#deps;
    const known = repository.entry(call.id);
    const current = known?.latest ?? call;
    const event = this.#complete(current, given);
    const now = clock.moment();
    const batch = new EventBatch(current, now.wall);
    const decision = decide(current, event, now);
    if (!decision.ok) return decision;
    const entry = known ?? enterStored(repository, call);
    takeStatus(entry, batch, now.steady);
    // An event that changes nothing is none, also behind what was shown.
    const next = decision.record === current ? { ...decision, record: batch.record } : decision;
    addDecision(batch, event, actor, next, this.#rules, now);
    // Its client waits for the offer to be on disk, or else the grant is an effect that waits itself.
    const mayWait = event.type === 'claimed';
    const applied = this.#commit(entry, current, batch, { mayWait, more: more?.() });
    applied.written.catch(this.#deps.logger.error);
    return applied;
  }

  /** Brings a call to an executor; false when it goes on waiting. */
  route(call: Call, neverStarted?: NeverStarted): boolean {
    const current = this.#deps.repository.latest(call.id) ?? call;
    const event = this.#deps.route(current, neverStarted);
    return event !== undefined && this.apply(current, event, 'server').ok;
  }

  /**
   * Shows people something that changes no state, once it is on disk. What comes
   * while the call is being written, or faster than its pace, is joined until the next write.
   */
  status(id: string, update: CardUpdate, actor: Actor = 'server', from?: Answerer): void {
    const entry = this.#deps.repository.entry(id);
    const bounded = entry && this.#takeIn(entry, { type: 'status', from, shown: update });
    if (!bounded) return;
    this.#deps.onShown?.(entry.latest);
    joinStatus(entry, bounded, actor);
    this.#writeStatus(entry);
  }

  /** Shows the arguments that a model is still writing: at once, as only their end is a promise. */
  sketch(id: string, update: CardUpdate): void {
    const entry = this.#deps.repository.entry(id);
    const bounded = entry?.durable && this.#takeIn(entry, { type: 'sketch', shown: update });
    if (!entry?.durable || !bounded) return;
    entry.durable = { ...entry.durable, card: mergeCard(entry.durable.card, bounded) };
    this.#deps.publish(entry.latest, bounded);
  }

  /** The wall clock was set: of open calls, shows where their deadlines are on it now. */
  showDeadlines(): void {
    const { repository, clock } = this.#deps;
    const now = clock.moment();
    for (const call of repository.open()) {
      const durable = repository.entry(call.id)?.durable;
      if (!durable) continue;
      const moved = shownAt(durable, now);
      const { clock: shown } = moved.card;
      if (shown && shown !== durable.card.clock) this.#deps.publish(moved, { clock: shown });
    }
  }

  /** True when a start is decided that has not happened: a grant that has not left, or the first run of a server tool. */
  hasUnsentStart(id: string): boolean {
    const entry = this.#deps.repository.entry(id);
    return entry !== undefined && hasUnsentStart(entry);
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

  /** Takes secrets out of an event, and adds what else waits. */
  #complete(call: Call, event: CallEvent): CallEvent {
    const { withholding, besides } = this.#deps;
    return besides(call, withholding.ofEvent(call, event));
  }

  /** Gives what people see of it; undefined when it is refused, or shows nothing new. */
  #takeIn(entry: CallEntry, event: CallEvent): CardUpdate | undefined {
    const { withholding, clock } = this.#deps;
    const shown = withholding.ofUpdate(entry.latest, event.shown ?? {});
    const decision = decide(entry.latest, { ...event, shown }, clock.moment());
    if (!decision.ok) return undefined;
    entry.latest = decision.record;
    return decision.update;
  }

  #commit(
    entry: CallEntry,
    previous: Call | undefined,
    batch: EventBatch,
    options: WriteOptions,
  ): Extract<Applied, { ok: true }> {
    const { record } = batch;
    const effects = takeDecided(entry, batch, previous === undefined);
    this.#deps.onDecided(record, previous);
    // fault point: decided
    const mayWait = options.mayWait && effects.every(({ after }) => after <= entry.hastyVersion);
    const announced = this.#deps.announce?.(record, previous);
    const written = this.#write(entry, batch, { ...options, mayWait, announced });
    for (const planned of effects) this.#plan(entry, planned);
    return { ok: true, record, written };
  }

  #plan(entry: CallEntry, planned: DecidedEffect & PlannedEffect): void {
    if (happensNow(entry, planned)) this.#run(entry, planned.effect, planned.record);
    else {
      const happened = Promise.withResolvers<void>();
      // An effect that no caller waits for may fail with its write, which is reported.
      happened.promise.catch(() => {});
      entry.pendingEffects.push({ ...planned, happened });
    }
  }

  #run(entry: CallEntry, effect: Effect, record: Call): void {
    if (isStillWanted(entry, effect)) this.#deps.run(effect, record);
  }

  /** Append, fsync, publish, run what waited for it: in the order of the decisions. */
  #write(
    entry: CallEntry,
    batch: EventBatch,
    { more = [], mayWait = false, announced }: WriteOptions = {},
  ): Promise<void> {
    const { record } = batch;
    // guard: published-once-written
    entry.writes += 1;
    if (!mayWait) entry.hastyVersion = record.version;
    const changes = [...batch.changes, ...more, ...(announced?.changes ?? [])];
    const written = this.#deps.store.write(changes, { mayWait }).then(
      () => {
        // fault point: written
        entry.writes -= 1;
        this.#written(entry, record, batch.updates);
        announced?.written();
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

  #written(entry: CallEntry, record: Call, updates: readonly CardUpdate[]): void {
    const previous = entry.durable;
    entry.durable = record;
    for (const update of updates) this.#deps.publish(record, update);
    // fault point: published
    this.#deps.onDurable(record, previous);
    this.#runPending(entry, record.version);
    if (!isFinalStatus(record.status)) return;
    this.#deps.repository.wake(entry);
    this.#deps.repository.retire(entry);
  }

  #runPending(entry: CallEntry, version: number): void {
    for (const { effect, record, happened } of takePending(entry, version)) {
      this.#run(entry, effect, record);
      happened.resolve();
    }
  }

  /** A commit that is on its way takes it along; else it is an event of its own, in its pace. */
  #writeStatus(entry: CallEntry): void {
    if (!entry.pendingStatus || entry.writes > 0) return;
    const { clock, logger } = this.#deps;
    const now = clock.steady();
    const waitMs = entry.statusPace.waitMs(now, entry.latest.version);
    if (waitMs > 0) {
      entry.stopStatus ??= clock.schedule(waitMs, () => {
        entry.stopStatus = undefined;
        this.#writeStatus(entry);
      });
      return;
    }
    const batch = new EventBatch(entry.latest, clock.now());
    takeStatus(entry, batch, now);
    entry.latest = batch.record;
    this.#write(entry, batch).catch(logger.error);
  }

  /**
   * A write that was rejected alone (ST6): what was decided in it is void, and what
   * came after it goes on. A later decision is rejected in turn, as it follows none.
   */
  #takeBack(entry: CallEntry, record: Call, error: unknown): void {
    const { repository, onDecided } = this.#deps;
    drop(takePending(entry, record.version), error);
    // It may be on disk, which only a new start finds out: until then it stays decided.
    // guard: failed-store-undoes-nothing
    if (error instanceof StoreFailedError) return;
    if (!entry.durable) {
      repository.forget(entry);
      repository.wake(entry);
      // For those who follow decisions it has ended.
      const { latest } = entry;
      const ended = decide(latest, NOT_STORED, this.#deps.clock.moment());
      onDecided(ended.ok ? ended.record : latest, latest);
    } else if (entry.latest.version === record.version) {
      const waiting = entry.pendingStatus;
      entry.pendingStatus = undefined;
      entry.latest = entry.durable;
      onDecided(entry.latest, record);
      if (waiting) this.status(record.id, waiting, entry.statusFrom);
      repository.retire(entry);
    }
  }

  /** Another writer was first (rule CE4): what was decided here is void, and its effects do not happen. */
  #forget(entry: CallEntry, error: VersionConflictError): void {
    const { repository, store, onDecided, logger } = this.#deps;
    const { latest } = entry;
    // guard: void-effects-dropped
    drop(takeVoid(entry), error);
    entry.pendingStatus = undefined;
    // A write before this one was refused, too.
    if (repository.entry(latest.id) !== entry) return;
    repository.forget(entry);
    // An empty write waits for the writes before it: the other event may not be on disk yet.
    store
      .write([])
      .then(() => store.getCall(latest.id))
      .then((stored) => {
        if (stored && !repository.entry(latest.id)) {
          repository.adopt(stored);
          onDecided(stored, latest);
        }
        if (stored) this.#decideAgain(entry, stored);
      })
      .catch(logger.error)
      .finally(() => repository.passOnWaiters(entry));
  }

  /**
   * Two things hold although their event is void: a start found the call, or a grant has left,
   * whose client runs the tool. The newer state is not without them.
   */
  #decideAgain(entry: CallEntry, stored: Call): void {
    const recovered = recoveredByVoid(entry);
    if (recovered) this.apply(stored, recovered, 'server');
    const to = grantedByVoid(entry);
    if (!to) return;
    const { clientId, instanceId, attempt } = to;
    const from = { clientId, instanceId, attempt };
    const applied = this.apply(stored, { type: 'claimed', from }, `client:${clientId}`);
    if (applied.ok) this.grantLeaves(stored.id);
  }
}

/** Effects that waited for events that are not stored do not happen. */
function drop(pending: readonly PendingEffect[], error: unknown): void {
  for (const { happened } of pending) happened.reject(error);
}

const NOT_STORED = { type: 'interrupted', message: 'The call could not be stored' } as const;

/** One that has ended and left memory: what is stored is what is shown of it. */
function enterStored(repository: CallRepository, call: Call): CallEntry {
  const entry = repository.enter(call);
  entry.durable = call;
  return entry;
}
