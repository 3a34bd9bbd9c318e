import { boundUpdate } from '#lib/call/bound-card';
import type { CallRecord } from '#lib/call/call-record';
import { mergeCard } from '#lib/call/merge-card';
import type { CardUpdate } from '#lib/protocol/card';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import type { Clock } from '../clock.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { Change, Store } from '../store/store.ts';
import type { ShownCall } from './call-service.ts';
import { createEndedCalls, ENDED_LIMITS, type EndedLimits } from './ended-calls.ts';

export interface LedgerDeps {
  readonly store: Store;
  readonly bus: Pick<EventBus, 'publish'>;
  readonly clock: Clock;
  /** Which ended calls stay in memory. */
  readonly endedLimits?: EndedLimits;
  /** A state is on disk and told; `previous` is the one that was before it. */
  onDurable(record: CallRecord, previous: CallRecord | undefined): void;
  onError(error: unknown): void;
}

interface Entry {
  /** What has been decided; guards look at this. */
  latest: CallRecord;
  /** What is on disk; everybody else is shown this. */
  durable: CallRecord | undefined;
  /** Resolves when `latest` is on disk. */
  written: Promise<void>;
  writes: number;
  /** In `latest` already, and neither on disk nor told: the next write takes them with it. */
  untold: CardUpdate[] | undefined;
  waiters: Set<() => void> | undefined;
}

export interface CallLedger {
  /** The newest decided state of an open or recent call. */
  latest(id: string): CallRecord | undefined;
  /** What is on disk, from memory or the store. */
  get(id: string): Promise<CallRecord | undefined>;
  /** As `latest`, and from the store when it is not in memory any more. */
  find(id: string): Promise<CallRecord | undefined>;
  /**
   * Decides at once, and resolves once it is on disk and told: record, fsync,
   * apply, tell. `updates` are told in order; the record's card already holds them.
   */
  commit(
    record: CallRecord,
    updates: readonly CardUpdate[],
    more?: readonly Change[],
  ): Promise<void>;
  /** As `commit`, for what is no transition: merges the update into the record's card. */
  amend(record: CallRecord, update: CardUpdate): Promise<void>;
  /**
   * Shows people something that changes no state, once it is on disk. What comes
   * while the call is being written waits, and shares the next write.
   */
  tell(id: string, update: CardUpdate): void;
  /** Shows the arguments that a model is still writing: at once, as only their end is a promise. */
  sketch(id: string, update: CardUpdate): void;
  /** Resolves when all that was decided of this call is on disk. */
  settled(id: string): Promise<void>;
  /** Resolves with the durable record once final, or as it is after `waitMs`. */
  wait(id: string, waitMs: number, signal?: AbortSignal): Promise<CallRecord | undefined>;
  /** Takes a stored call into memory, without writing it. */
  adopt(record: CallRecord): void;
  /** Shows a stored call that has ended, without taking it into memory. */
  adoptShown(call: ShownCall): void;
  /** Oldest first. */
  open(): CallRecord[];
  /** Open calls and the newest ended ones, oldest first. */
  shown(runId?: string): ShownCall[];
  onDecided(listener: (record: CallRecord, previous: CallRecord | undefined) => void): void;
  /** Nobody is kept waiting from now on: whoever waits gets the record as it stands. */
  releaseWaiters(): void;
}

/** Every open call, and ended ones as far as there is room. It has no rules; it keeps their order. */
export function createCallLedger(deps: LedgerDeps): CallLedger {
  const { store, bus, clock, endedLimits = ENDED_LIMITS } = deps;
  const entries = new Map<string, Entry>();
  const ended = createEndedCalls(endedLimits, (id) => entries.delete(id));
  let retiring: Entry[] = [];
  let released = false;
  let onDecided: (record: CallRecord, previous: CallRecord | undefined) => void = () => {};

  function commit(
    record: CallRecord,
    updates: readonly CardUpdate[],
    more: readonly Change[] = [],
  ): Promise<void> {
    const entry = entries.get(record.id) ?? enter(record);
    const previous = entry.latest === record ? undefined : entry.latest;
    entry.latest = record;
    onDecided(record, previous);
    return write(entry, updates, more);
  }

  const amend = (record: CallRecord, update: CardUpdate): Promise<void> =>
    commit({ ...record, card: mergeCard(record.card, update) }, [update]);

  function enter(record: CallRecord): Entry {
    const entry: Entry = {
      latest: record,
      durable: undefined,
      written: Promise.resolve(),
      writes: 0,
      untold: undefined,
      waiters: undefined,
    };
    entries.set(record.id, entry);
    return entry;
  }

  /** Record, fsync, tell, in the order of the decisions. What waited to be told goes before. */
  function write(
    entry: Entry,
    updates: readonly CardUpdate[],
    more: readonly Change[],
  ): Promise<void> {
    const record = entry.latest;
    const toTell = entry.untold ? [...entry.untold, ...updates] : updates;
    entry.untold = undefined;
    entry.writes += 1;
    entry.written = store.write([{ type: 'put_call', call: record }, ...more]).then(
      () => {
        entry.writes -= 1;
        publish(entry, record, toTell);
        if (entry.untold) writeUntold(entry);
      },
      (error) => {
        entry.writes -= 1;
        // Such a write may be rejected alone (ST6): what waited for it goes on.
        if (entry.untold) writeUntold(entry);
        else retire(entry);
        throw error;
      },
    );
    return entry.written;
  }

  /** A commit that is on its way takes it along; else it is a write of its own. */
  function writeUntold(entry: Entry): void {
    if (entry.writes === 0) write(entry, [], []).catch(deps.onError);
  }

  function publish(entry: Entry, record: CallRecord, updates: readonly CardUpdate[]): void {
    const previous = entry.durable;
    entry.durable = record;
    for (const update of updates) {
      bus.publish({ type: 'call', tool_call_id: record.id, run_id: record.runId, update });
    }
    deps.onDurable(record, previous);
    if (!isFinalStatus(record.status)) return;
    const { waiters } = entry;
    entry.waiters = undefined;
    if (waiters) for (const resolve of waiters) resolve();
    retire(entry);
  }

  /** Takes it into what has been decided. The update as people see it; undefined when that changes nothing. */
  function takeIn(entry: Entry, update: CardUpdate): CardUpdate | undefined {
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

  /** Not within this turn: a caller that has just looked at the call may be about to decide of it. */
  function retire(entry: Entry): void {
    if (!hasEnded(entry)) return;
    retiring.push(entry);
    if (retiring.length === 1) setImmediate(retireAll);
  }

  function retireAll(): void {
    const due = retiring;
    retiring = [];
    for (const entry of due) {
      // One with a further write on its way is retired after that.
      if (hasEnded(entry) && entries.get(entry.latest.id) === entry) ended.take(entry.latest);
    }
  }

  /** As they are on disk: open calls, and those whose end is not taken over yet. */
  const others = (): CallRecord[] =>
    [...entries.values()].flatMap(({ durable }) =>
      durable && !ended.has(durable.id) ? [durable] : [],
    );

  async function get(id: string): Promise<CallRecord | undefined> {
    const entry = entries.get(id);
    return entry ? durableOf(entry) : store.getCall(id);
  }

  async function wait(
    id: string,
    waitMs: number,
    signal?: AbortSignal,
  ): Promise<CallRecord | undefined> {
    const entry = entries.get(id);
    const durable = entry ? entry.durable : await store.getCall(id);
    const isOver = durable ? isFinalStatus(durable.status) : entry === undefined;
    if (isOver) return durable;
    if (waitMs > 0 && !released && !signal?.aborted) {
      await new Promise<void>((resolve) => {
        // Without an entry nothing wakes it: that call was not taken up, and its time is waited for.
        const waiters = entry?.waiters ?? new Set();
        if (entry) entry.waiters = waiters;
        const done = () => {
          stop();
          waiters.delete(done);
          signal?.removeEventListener('abort', done);
          resolve();
        };
        const stop = clock.schedule(waitMs, done);
        waiters.add(done);
        signal?.addEventListener('abort', done, { once: true });
      });
    }
    return entry ? durableOf(entry) : store.getCall(id);
  }

  return {
    latest: (id) => entries.get(id)?.latest,
    get,
    find: async (id) => entries.get(id)?.latest ?? store.getCall(id),
    commit,
    amend,
    tell(id, update) {
      const entry = entries.get(id);
      const bounded = entry && takeIn(entry, update);
      if (!bounded) return;
      entry.untold ??= [];
      entry.untold.push(bounded);
      writeUntold(entry);
    },
    sketch(id, update) {
      const entry = entries.get(id);
      if (!entry?.durable || entry.latest.phase !== 'streaming') return;
      const bounded = takeIn(entry, update);
      if (!bounded) return;
      entry.durable = { ...entry.durable, card: mergeCard(entry.durable.card, bounded) };
      const { runId } = entry.latest;
      bus.publish({ type: 'call', tool_call_id: id, run_id: runId, update: bounded });
    },
    settled: (id) => entries.get(id)?.written ?? Promise.resolve(),
    wait,
    adopt(record) {
      const entry = enter(record);
      entry.durable = record;
      if (isFinalStatus(record.status)) ended.take(record);
      else onDecided(record, undefined);
    },
    adoptShown: ended.show,
    open: () =>
      [...entries.values()].map(({ latest }) => latest).filter((one) => !isFinalStatus(one.status)),
    shown: (runId) =>
      // A late result may be on disk, and not be taken over yet.
      [...ended.shown().map((call) => entries.get(call.id)?.durable ?? call), ...others()]
        .filter((call) => runId === undefined || call.runId === runId)
        .sort((a, b) => a.createdAt - b.createdAt),
    onDecided(listener) {
      onDecided = listener;
    },
    releaseWaiters() {
      released = true;
      for (const { waiters } of entries.values()) {
        if (waiters) for (const resolve of [...waiters]) resolve();
      }
    },
  };
}

/** On disk, and nothing more of it is on its way there. */
const hasEnded = ({ durable, writes }: Entry): boolean =>
  writes === 0 && durable !== undefined && isFinalStatus(durable.status);

async function durableOf(entry: Entry): Promise<CallRecord | undefined> {
  if (!entry.durable) await entry.written;
  return entry.durable;
}
