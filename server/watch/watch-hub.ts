import type { WatchEvent } from '#lib/protocol/watch-messages';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { type EventBus, type LoggedEvent, loggedEvent, runIdOf } from '../events/room.ts';
import { createMissedEvents } from './merge-events.ts';
import { createPace } from './paced.ts';
import type { TakeSnapshot } from './snapshot.ts';
import type { WholeLists } from './whole-lists.ts';

/** The way to one watcher, and how much of what was sent it has not taken yet. */
export interface WatcherChannel {
  send(frame: Buffer): void;
  readonly bufferedBytes: number;
  cutOff(reason: string): void;
}

export interface WatchHubDeps {
  readonly bus: EventBus;
  readonly snapshot: TakeSnapshot;
  readonly lists: WholeLists;
  readonly clock: Clock;
  readonly logger: Logger;
}

export const WATCH_LIMITS = {
  /** Above this, updates are merged instead of sent. */
  mergeAboveBytes: 1024 * 1024,
  /** Above this, or after `patienceMs` above the first, the watcher is cut off. */
  cutAboveBytes: 8 * 1024 * 1024,
  patienceMs: 10_000,
  maxMissedCalls: 2_000,
  pollMs: 100,
  /** From one frame to the next: a screen draws as often. */
  frameMs: 16,
};

const TOO_SLOW = 'Too slow: connect again and take a snapshot';
const NO_SNAPSHOT = 'The snapshot could not be made: connect again';

/** Takes some milliseconds. */
const SNAPSHOT_BYTES_PER_TURN = 2 * 1024 * 1024;

/** A watcher asked for this. */
export interface WatchOptions {
  readonly runId?: string;
  readonly since?: number;
  readonly changes?: boolean;
  /** A snapshot in parts, of what is not one run's. */
  readonly parts?: boolean;
}

interface Watcher {
  readonly channel: WatcherChannel;
  readonly runId: string | undefined;
  /** It asked for changes of tools and clients; others are sent the whole lists. */
  readonly changes: boolean;
  /** Not started: events wait here until the snapshot is sent. */
  pending: LoggedEvent[] | undefined;
  /** Slow: what it missed, since when. */
  missed: ReturnType<typeof createMissedEvents> | undefined;
  slowSince: number;
  /** The newest number that it was sent, or that waits among what it missed. */
  seq: number;
}

/**
 * One subscription for all watchers of this process: what came since the last
 * frame is made into one, once, and the same bytes go to each. A slow watcher
 * gets merged updates, then a snapshot, and is cut off in the end; it delays
 * no other and holds a bounded amount of memory.
 */
export class WatchHub {
  readonly #deps: WatchHubDeps;
  readonly #watchers = new Set<Watcher>();
  readonly #pace = createPace(SNAPSHOT_BYTES_PER_TURN);
  /** Only while there is a watcher: without one no event is looked at. */
  #subscription: ReturnType<EventBus['subscribe']> | undefined;
  #stopPolling: (() => void) | undefined;

  /** Events that came since the last frame, while the next is not due. */
  #gathered: LoggedEvent[] = [];
  #stopPacing: (() => void) | undefined;

  constructor(deps: WatchHubDeps) {
    this.#deps = deps;
  }

  get count(): number {
    return this.#watchers.size;
  }

  /** Resolves to what removes the watcher. */
  async add(channel: WatcherChannel, request: WatchOptions): Promise<() => void> {
    const { runId, since, changes = false } = request;
    const { bus } = this.#deps;
    const watcher: Watcher = {
      channel,
      runId,
      changes,
      pending: [],
      missed: undefined,
      slowSince: 0,
      seq: since ?? 0,
    };
    // A watcher that asks again and again and reads nothing would be sent one snapshot after the other.
    if (channel.bufferedBytes > 2 * WATCH_LIMITS.mergeAboveBytes) {
      this.#cutOff(watcher, TOO_SLOW);
      return () => {};
    }
    this.#watchers.add(watcher);
    this.#subscription ??= bus.subscribe({ onEvents: (events) => this.#gather(events) });
    if (since === undefined || since > bus.seq || !this.#catchUp(watcher, since)) {
      await this.#begin(watcher, runId === undefined && request.parts === true);
    }
    return () => this.#remove(watcher);
  }

  close(): void {
    this.#stopPolling?.();
    this.#stopPacing?.();
    this.#subscription?.close();
    this.#spread(this.#gathered);
  }

  #remove(watcher: Watcher): void {
    this.#watchers.delete(watcher);
    if (this.#watchers.size > 0) return;
    this.#subscription?.close();
    this.#subscription = undefined;
  }

  /** After quiet a frame leaves at once; what comes then is gathered until the next is due. */
  #gather(events: readonly LoggedEvent[]): void {
    if (this.#watchers.size === 0) return;
    if (this.#stopPacing) return void this.#gathered.push(...events);
    this.#stopPacing = this.#deps.clock.schedule(WATCH_LIMITS.frameMs, () => {
      this.#stopPacing = undefined;
      const gathered = this.#gathered;
      this.#gathered = [];
      if (gathered.length > 0) this.#gather(gathered);
    });
    this.#spread(events);
  }

  #spread(events: readonly LoggedEvent[]): void {
    const frames = new Map<boolean, Buffer>();
    for (const watcher of this.#watchers) {
      if (watcher.pending) {
        watcher.pending.push(...events);
        // guard: watcher-backlog-limited
      } else if (watcher.missed || watcher.channel.bufferedBytes > WATCH_LIMITS.mergeAboveBytes) {
        this.#miss(watcher, events);
      } else if (watcher.runId === undefined && watcher.seq < firstSeq(events)) {
        const frame = frames.get(watcher.changes) ?? toFrame(this.#formOf(watcher, events));
        frames.set(watcher.changes, frame);
        // guard: every-watcher-updated
        watcher.channel.send(frame);
        watcher.seq = lastSeq(events);
      } else {
        this.#sendNew(watcher, events);
      }
    }
  }

  #formOf(watcher: Watcher, events: readonly LoggedEvent[]): readonly LoggedEvent[] {
    return watcher.changes ? events : this.#deps.lists.inPlaceOfChanges(events);
  }

  /** Only what it has not seen, and only of its run. */
  #sendNew(watcher: Watcher, events: readonly LoggedEvent[]): void {
    const own = events.filter(
      ({ event }) => event.seq > watcher.seq && concerns(event, watcher.runId),
    );
    watcher.seq = Math.max(watcher.seq, lastSeq(events));
    if (own.length > 0) watcher.channel.send(toFrame(this.#formOf(watcher, own)));
  }

  #miss(watcher: Watcher, events: readonly LoggedEvent[]): void {
    const { clock } = this.#deps;
    if (!watcher.missed) {
      watcher.missed = createMissedEvents(WATCH_LIMITS.maxMissedCalls);
      watcher.slowSince = clock.now();
      this.#poll();
    }
    // guard: missed-updates-kept
    for (const { event } of events) if (concerns(event, watcher.runId)) watcher.missed.add(event);
    watcher.seq = Math.max(watcher.seq, lastSeq(events));
    if (watcher.channel.bufferedBytes > WATCH_LIMITS.cutAboveBytes) this.#cutOff(watcher, TOO_SLOW);
  }

  /** Looks after the slow ones until there are none. */
  #poll(): void {
    const { clock } = this.#deps;
    this.#stopPolling ??= clock.schedule(WATCH_LIMITS.pollMs, () => {
      this.#stopPolling = undefined;
      for (const watcher of this.#watchers) {
        if (watcher.missed) this.#relieve(watcher, watcher.missed);
      }
      if (this.#watchers.values().some((watcher) => watcher.missed)) this.#poll();
    });
  }

  #relieve(watcher: Watcher, missed: NonNullable<Watcher['missed']>): void {
    const { clock, lists } = this.#deps;
    if (watcher.channel.bufferedBytes > WATCH_LIMITS.mergeAboveBytes / 4) {
      // guard: unread-watcher-cut-off
      if (clock.now() - watcher.slowSince > WATCH_LIMITS.patienceMs)
        this.#cutOff(watcher, TOO_SLOW);
      return;
    }
    const events = missed.take();
    watcher.missed = undefined;
    if (events === 'snapshot') {
      this.#beginSoon(watcher);
    } else if (events.length > 0) {
      const whole = lists.inPlaceOfChanges(events.map(loggedEvent));
      // Also a single one: merged events skip numbers, which one alone does not.
      watcher.channel.send(toBatch(whole));
    }
  }

  #cutOff(watcher: Watcher, reason: string): void {
    this.#remove(watcher);
    watcher.channel.cutOff(reason);
  }

  /** Sends the state, then what came meanwhile, then all that comes. */
  async #begin(watcher: Watcher, parts = false): Promise<void> {
    watcher.pending = [];
    const of = { runId: watcher.runId, parts };
    const snapshot = await this.#deps.snapshot(of).catch((error: unknown) => {
      // Else events would wait for it for ever, also when its channel is closed.
      if (this.#watchers.has(watcher)) this.#cutOff(watcher, NO_SNAPSHOT);
      throw error;
    });
    await this.#pace(snapshot.text.length);
    if (!this.#watchers.has(watcher)) return;
    watcher.channel.send(snapshot.text);
    watcher.seq = snapshot.seq;
    this.#goOn(watcher, []);
  }

  #beginSoon(watcher: Watcher): void {
    this.#begin(watcher).catch(this.#deps.logger.error);
  }

  /** Only what is newer than `since`, when the log still has it. */
  #catchUp(watcher: Watcher, since: number): boolean {
    const { bus, lists } = this.#deps;
    const isUpToDate = since === bus.seq;
    const own = bus.subscribe({
      since,
      onEvents: (events) => {
        // From the second moment on the hub's own subscription serves it.
        own.close();
        if (!this.#watchers.has(watcher)) return;
        if (watcher.changes || !lists.areMany(events)) this.#goOn(watcher, events);
        else this.#beginSoon(watcher);
      },
    });
    if (isUpToDate || !own.complete) own.close();
    if (isUpToDate) this.#goOn(watcher, []);
    return own.complete;
  }

  #goOn(watcher: Watcher, missedEvents: readonly LoggedEvent[]): void {
    const pending = watcher.pending ?? [];
    watcher.pending = undefined;
    this.#sendNew(watcher, missedEvents);
    this.#sendNew(watcher, pending);
  }
}

/** Lists concern each watcher; calls and messages only those who watch their run. */
function concerns(event: WatchEvent, runId: string | undefined): boolean {
  return runId === undefined || (runIdOf(event) ?? runId) === runId;
}

const firstSeq = (events: readonly LoggedEvent[]): number => events[0]?.event.seq ?? 0;

const lastSeq = (events: readonly LoggedEvent[]): number => events.at(-1)?.event.seq ?? 0;

function toFrame(events: readonly LoggedEvent[]): Buffer {
  const [first] = events;
  if (events.length === 1 && first) return Buffer.from(first.json);
  return toBatch(events);
}

function toBatch(events: readonly LoggedEvent[]): Buffer {
  return Buffer.from(`{"type":"batch","events":[${events.map(({ json }) => json).join(',')}]}`);
}
