import type { WatchEvent } from '#lib/protocol/watch-messages';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { EventBus, LoggedEvent } from './event-bus.ts';
import { loggedEvent } from './logged-event.ts';
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
  readonly limits: WatchLimits;
  logger: Logger;
}

export interface WatchLimits {
  /** Above this, updates are merged instead of sent. */
  readonly mergeAboveBytes: number;
  /** Above this, or after `patienceMs` above the first, the watcher is cut off. */
  readonly cutAboveBytes: number;
  readonly patienceMs: number;
  readonly maxMissedCalls: number;
  readonly pollMs: number;
}

export const WATCH_LIMITS: WatchLimits = {
  mergeAboveBytes: 1024 * 1024,
  cutAboveBytes: 8 * 1024 * 1024,
  patienceMs: 10_000,
  maxMissedCalls: 2_000,
  pollMs: 100,
};

/** Takes some milliseconds. */
const SNAPSHOT_BYTES_PER_TURN = 2 * 1024 * 1024;

/** What a watcher asked for. */
export interface WatchOptions {
  readonly runId?: string;
  readonly since?: number;
  readonly changes?: boolean;
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
 * One subscription for all watchers of this process: what a moment brought is
 * made into one frame, once, and the same bytes go to everybody. A slow watcher
 * gets merged updates, then a snapshot, and is cut off in the end; it delays
 * nobody and holds a bounded amount of memory.
 */
export function createWatchHub(deps: WatchHubDeps) {
  const { bus, clock, limits } = deps;
  const watchers = new Set<Watcher>();
  const pace = createPace(SNAPSHOT_BYTES_PER_TURN);
  let stopPolling: (() => void) | undefined;
  const subscription = bus.subscribe({ onEvents: spread });

  function spread(events: readonly LoggedEvent[]): void {
    const frames = new Map<boolean, Buffer>();
    for (const watcher of watchers) {
      if (watcher.pending) {
        watcher.pending.push(...events);
        // guard: watcher-backlog-limited
      } else if (watcher.missed || watcher.channel.bufferedBytes > limits.mergeAboveBytes) {
        miss(watcher, events);
      } else if (watcher.runId === undefined && watcher.seq < firstSeq(events)) {
        const frame = frames.get(watcher.changes) ?? toFrame(formOf(watcher, events));
        frames.set(watcher.changes, frame);
        // guard: every-watcher-updated
        watcher.channel.send(frame);
        watcher.seq = lastSeq(events);
      } else {
        sendNew(watcher, events);
      }
    }
  }

  const formOf = (watcher: Watcher, events: readonly LoggedEvent[]) =>
    watcher.changes ? events : deps.lists.inPlaceOfChanges(events);

  /** Only what it has not seen, and only of its run. */
  function sendNew(watcher: Watcher, events: readonly LoggedEvent[]): void {
    const own = events.filter(
      ({ event }) => event.seq > watcher.seq && concerns(event, watcher.runId),
    );
    watcher.seq = Math.max(watcher.seq, lastSeq(events));
    if (own.length > 0) watcher.channel.send(toFrame(formOf(watcher, own)));
  }

  function miss(watcher: Watcher, events: readonly LoggedEvent[]): void {
    if (!watcher.missed) {
      watcher.missed = createMissedEvents(limits.maxMissedCalls);
      watcher.slowSince = clock.now();
      poll();
    }
    // guard: missed-updates-kept
    for (const { event } of events) if (concerns(event, watcher.runId)) watcher.missed.add(event);
    watcher.seq = Math.max(watcher.seq, lastSeq(events));
    if (watcher.channel.bufferedBytes > limits.cutAboveBytes) cutOff(watcher);
  }

  /** Looks after the slow ones until there are none. */
  function poll(): void {
    stopPolling ??= clock.schedule(limits.pollMs, () => {
      stopPolling = undefined;
      for (const watcher of watchers) if (watcher.missed) relieve(watcher, watcher.missed);
      if ([...watchers].some((watcher) => watcher.missed)) poll();
    });
  }

  function relieve(watcher: Watcher, missed: NonNullable<Watcher['missed']>): void {
    if (watcher.channel.bufferedBytes > limits.mergeAboveBytes / 4) {
      // guard: unread-watcher-cut-off
      if (clock.now() - watcher.slowSince > limits.patienceMs) cutOff(watcher);
      return;
    }
    const events = missed.take();
    watcher.missed = undefined;
    if (events === 'snapshot') {
      begin(watcher).catch(deps.logger.error);
    } else if (events.length > 0) {
      const whole = deps.lists.inPlaceOfChanges(events.map(loggedEvent));
      // Also a single one: merged events skip numbers, which one alone does not.
      watcher.channel.send(toBatch(whole));
    }
  }

  function cutOff(watcher: Watcher): void {
    watchers.delete(watcher);
    watcher.channel.cutOff('Too slow: connect again and take a snapshot');
  }

  /** Sends the state, then what came meanwhile, then all that comes. */
  async function begin(watcher: Watcher): Promise<void> {
    watcher.pending = [];
    const snapshot = await deps.snapshot(watcher.runId);
    await pace(snapshot.text.length);
    if (!watchers.has(watcher)) return;
    watcher.channel.send(snapshot.text);
    watcher.seq = snapshot.seq;
    goOn(watcher, []);
  }

  /** Only what is newer than `since`, when the log still has it. */
  function catchUp(watcher: Watcher, since: number): boolean {
    let caughtUp = since === bus.seq;
    const own = bus.subscribe({
      since,
      onEvents(events) {
        // From the second moment on the hub's own subscription serves it.
        if (caughtUp) return;
        caughtUp = true;
        if (watcher.changes || !deps.lists.areMany(events)) goOn(watcher, events);
        else begin(watcher).catch(deps.logger.error);
      },
    });
    if (caughtUp || !own.complete) own.close();
    else clock.schedule(0, own.close);
    if (caughtUp) goOn(watcher, []);
    return own.complete;
  }

  function goOn(watcher: Watcher, missedEvents: readonly LoggedEvent[]): void {
    const pending = watcher.pending ?? [];
    watcher.pending = undefined;
    sendNew(watcher, missedEvents);
    sendNew(watcher, pending);
  }

  return {
    async add(channel: WatcherChannel, request: WatchOptions) {
      const watcher: Watcher = {
        channel,
        runId: request.runId,
        changes: request.changes ?? false,
        pending: [],
        missed: undefined,
        slowSince: 0,
        seq: request.since ?? 0,
      };
      // Whoever asks again and again and reads nothing would be sent one snapshot after the other.
      if (channel.bufferedBytes > limits.cutAboveBytes) {
        cutOff(watcher);
        return () => {};
      }
      watchers.add(watcher);
      const { since } = request;
      if (since === undefined || since > bus.seq || !catchUp(watcher, since)) await begin(watcher);
      return () => void watchers.delete(watcher);
    },
    get count() {
      return watchers.size;
    },
    close() {
      stopPolling?.();
      subscription.close();
    },
  };
}

export type WatchHub = ReturnType<typeof createWatchHub>;

/** Lists concern everybody; calls and messages only those who watch their run. */
function concerns(event: WatchEvent, runId: string | undefined): boolean {
  if (runId === undefined) return true;
  if (event.type === 'run') return event.run.run_id === runId;
  return 'run_id' in event ? event.run_id === runId : true;
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
