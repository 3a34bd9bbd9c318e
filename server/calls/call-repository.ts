import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Call } from '#lib/call/call';
import type { Actor } from '#lib/call/call-event';
import { shownAt } from '#lib/call/clocks';
import type { CallProgress, DecidedEffect, PlannedEffect } from '#lib/call/engine-loop';
import { estimateJsonBytes } from '#lib/json/measure-json';
import type { CardUpdate } from '#lib/protocol/card';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { SteadyClock } from '../base/clock.ts';
import { createCollector } from '../base/collect-garbage.ts';
import type { Store } from '../store/room.ts';
import type { ShownCall } from './call-service.ts';
import { createEndedCalls, type EndedLimits } from './ended-calls.ts';

/** A smaller record is read at once. */
const LARGE_BYTES = 256 * 1024;

/** An effect that waits for an event of its call to be on disk. */
export interface PendingEffect extends DecidedEffect, PlannedEffect {
  /** Settles when it happens, or can no longer. */
  readonly happened: PromiseWithResolvers<void>;
}

/** A call in memory. The engine alone changes it. */
export interface CallEntry extends CallProgress<PendingEffect> {
  /** Resolves when `latest` is on disk. */
  written: Promise<void>;
  writes: number;
  /** In `latest` already, and in no event yet. */
  pendingStatus: CardUpdate | undefined;
  /** The sender of the newest of it. */
  statusFrom: Actor;
  readonly statusPace: StatusPace;
  /** Undoes the timer of what waits for the pace. */
  stopStatus: (() => void) | undefined;
  /** The newest version that is on its way to the disk at once, with all before it. */
  hastyVersion: number;
  waiters: Set<() => void> | undefined;
}

/** Every open call, and ended ones as far as there is room; others are read from the store. */
export class CallRepository {
  readonly #store: Pick<Store, 'getCall' | 'callBytes'>;
  readonly #clock: SteadyClock;
  readonly #entries = new Map<string, CallEntry>();
  readonly #ended: ReturnType<typeof createEndedCalls>;
  readonly #collector = createCollector();
  /** Large records that are being read, or are to be. */
  readonly #reads = new Map<string, Promise<Call | undefined>>();
  #lastRead: Promise<unknown> = Promise.resolve();
  #retiring: CallEntry[] = [];
  #isReleased = false;

  constructor(deps: {
    store: Pick<Store, 'getCall' | 'callBytes'>;
    clock: SteadyClock;
    endedLimits: EndedLimits;
  }) {
    this.#store = deps.store;
    this.#clock = deps.clock;
    this.#ended = createEndedCalls(deps.endedLimits, (id) => this.#entries.delete(id));
  }

  /** The newest decided state of an open or recent call. */
  latest(id: string): Call | undefined {
    return this.#entries.get(id)?.latest;
  }

  /** Gives what is on disk, from memory or the store, as it is shown now. */
  async get(id: string): Promise<Call | undefined> {
    const entry = this.#entries.get(id);
    const call = entry?.durable ?? (await (entry ? durableOf(entry) : this.#store.getCall(id)));
    return call && shownAt(call, this.#clock.moment());
  }

  /** It is 0 unless the record is in the store alone. */
  async storedBytes(id: string): Promise<number> {
    return this.#entries.has(id) ? 0 : this.#store.callBytes(id);
  }

  /** Gives `latest`, and reads the store when memory has it no more; large records one at a time (rule CA27). */
  async find(id: string): Promise<Call | undefined> {
    const latest = this.latest(id);
    if (latest) return latest;
    const bytes = await this.#store.callBytes(id);
    return bytes < LARGE_BYTES ? this.#store.getCall(id) : this.#readInTurn(id, bytes);
  }

  #readInTurn(id: string, bytes: number): Promise<Call | undefined> {
    const known = this.#reads.get(id);
    if (known) return known;
    const read = this.#lastRead
      .then(() => this.#store.getCall(id))
      .finally(() => this.#reads.delete(id));
    this.#reads.set(id, read);
    this.#lastRead = read
      .catch(() => {})
      // Everybody who waited for it has looked at it by then.
      .then(() => nextTurn())
      .then(() => this.#collector.used(bytes));
    return read;
  }

  /** Resolves when all that was decided of this call is on disk. */
  settled(id: string): Promise<void> {
    return this.#entries.get(id)?.written ?? Promise.resolve();
  }

  entry(id: string): CallEntry | undefined {
    return this.#entries.get(id);
  }

  enter(record: Call): CallEntry {
    const entry: CallEntry = {
      latest: record,
      durable: undefined,
      written: Promise.resolve(),
      writes: 0,
      pendingStatus: undefined,
      statusFrom: 'server',
      statusPace: new StatusPace(),
      stopStatus: undefined,
      pendingEffects: [],
      grant: undefined,
      offerVersion: 0,
      recovery: undefined,
      hastyVersion: 0,
      waiters: undefined,
    };
    this.#entries.set(record.id, entry);
    return entry;
  }

  /** Takes a stored call into memory. */
  adopt(record: Call): CallEntry {
    const entry = this.enter(record);
    entry.durable = record;
    if (isFinalStatus(record.status)) this.#ended.take(record);
    return entry;
  }

  /** Shows a stored call that has ended, without taking it into memory. */
  adoptShown(call: ShownCall): void {
    this.#ended.show(call);
  }

  /** Nothing of it is kept: the store has a newer state. */
  forget(entry: CallEntry): void {
    if (this.#entries.get(entry.latest.id) === entry) this.#entries.delete(entry.latest.id);
  }

  /**
   * Nothing is kept of these calls, which the store is about to delete. Returns those that may be
   * deleted: of one that is open, or on its way to the disk, more is to come.
   */
  forgetEnded(ids: readonly string[]): string[] {
    return ids.filter((id) => {
      const entry = this.#entries.get(id);
      if (entry && !hasEnded(entry)) return false;
      this.#ended.drop(id);
      this.#entries.delete(id);
      return true;
    });
  }

  /** Open ones, oldest first. */
  open(): Call[] {
    return [...this.#entries.values()]
      .map(({ latest }) => latest)
      .filter(({ status }) => !isFinalStatus(status));
  }

  /** Open calls and the newest ended ones, oldest first, as they are on disk and shown now. */
  shown(runId?: string): ShownCall[] {
    // A late result may be on disk, and not be taken over yet.
    const ended = this.#ended.shown().map((call) => this.#entries.get(call.id)?.durable ?? call);
    const now = this.#clock.moment();
    const others = [...this.#entries.values()].flatMap(({ durable }) =>
      durable && !this.#ended.has(durable.id) ? [shownAt(durable, now)] : [],
    );
    return [...ended, ...others]
      .filter((call) => runId === undefined || call.runId === runId)
      .sort((a, b) => a.createdAt - b.createdAt);
  }

  /** The durable record once it is final, or as it is after `waitMs`. */
  async wait(
    id: string,
    waitMs: number,
    signal?: AbortSignal,
    beforeRead?: (bytes: number) => Promise<void>,
  ): Promise<Call | undefined> {
    const entry = this.#entries.get(id);
    if (!entry) await beforeRead?.(await this.storedBytes(id));
    const durable = entry ? entry.durable : await this.#store.getCall(id);
    const isOver = durable ? isFinalStatus(durable.status) : entry === undefined;
    if (isOver) return durable;
    if (waitMs > 0 && !this.#isReleased && !signal?.aborted) {
      await this.#ending(entry, waitMs, signal);
    }
    await beforeRead?.(await this.storedBytes(id));
    return this.get(id); // Another entry may have taken its place.
  }

  #ending(entry: CallEntry | undefined, waitMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      // Without an entry nothing wakes it: that call was not taken up, and its time is waited for.
      const waiters = entry?.waiters ?? new Set();
      if (entry) entry.waiters = waiters;
      const done = () => {
        cancel();
        waiters.delete(done);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const cancel = this.#clock.schedule(waitMs, done);
      waiters.add(done);
      signal?.addEventListener('abort', done, { once: true });
    });
  }

  /** Answers those who wait for this call's end. */
  wake({ waiters }: CallEntry): void {
    if (waiters) for (const done of [...waiters]) done();
  }

  /** People who waited on an entry that was forgotten wait on the one in its place; without one, they are answered. */
  passOnWaiters({ latest, waiters }: CallEntry): void {
    if (!waiters) return;
    const next = this.#entries.get(latest.id);
    if (next && !isFinalStatus(next.latest.status)) {
      next.waiters = new Set([...(next.waiters ?? []), ...waiters]);
    } else for (const done of [...waiters]) done();
  }

  /** Answers all who wait with what there is, now and from now on. */
  releaseWaiters(): void {
    this.#isReleased = true;
    for (const entry of this.#entries.values()) this.wake(entry);
  }

  /** Not within this turn: a caller that has just looked at the call may be about to decide of it. */
  retire(entry: CallEntry): void {
    if (!hasEnded(entry)) return;
    this.#retiring.push(entry);
    if (this.#retiring.length === 1) setImmediate(() => this.#retireAll());
  }

  #retireAll(): void {
    const due = this.#retiring;
    this.#retiring = [];
    for (const entry of due) {
      // One with a further write on its way is retired after that.
      const isCurrent = this.#entries.get(entry.latest.id) === entry;
      if (hasEnded(entry) && isCurrent) this.#ended.take(entry.latest);
    }
  }
}

/** On disk, and nothing more of it is on its way there. */
const hasEnded = ({ durable, writes }: CallEntry): boolean =>
  writes === 0 && durable !== undefined && isFinalStatus(durable.status);

async function durableOf(entry: CallEntry): Promise<Call | undefined> {
  if (!entry.durable) await entry.written;
  return entry.durable;
}

/** So many of a burst are events of their own at once. */
const BURST = 3;
const PACE_MS = 250;
/** After so much quiet the next is the first of a burst. */
const QUIET_MS = 4 * PACE_MS;
/** From here on the pace doubles with each hundred events more, so that a call has some 2,000 at most. */
const MANY_EVENTS = 1_000;
/** It doubles with each of these bytes, too: a call has some 2 MiB of what was shown at most. */
const MANY_BYTES = 256 * 1024;

/**
 * When what a running tool shows becomes an event (rule CE9): what comes sooner is joined with what
 * comes next. This is the resolution in which people can see it again later.
 */
export class StatusPace {
  #ofBurst = 0;
  #newestAt = Number.NEGATIVE_INFINITY;
  #bytes = 0;

  /** Milliseconds until the next may be appended to a call of so many events. */
  waitMs(now: number, events: number): number {
    const since = now - this.#newestAt;
    if (since >= QUIET_MS) this.#ofBurst = 0;
    const doublings =
      Math.floor(Math.max(0, events - MANY_EVENTS) / 100) + Math.floor(this.#bytes / MANY_BYTES);
    if (doublings === 0 && this.#ofBurst < BURST) return 0;
    return Math.max(0, PACE_MS * 2 ** doublings - since);
  }

  appended(now: number, shown: CardUpdate, preview: unknown): void {
    this.#ofBurst += 1;
    this.#newestAt = now;
    this.#bytes +=
      estimateJsonBytes(shown) + (shown.preview_bytes ? estimateJsonBytes(preview) : 0);
  }
}
