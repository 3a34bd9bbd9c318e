import type { EndedPart, Snapshot, WatchEvent } from '../protocol/watch-messages.ts';

export interface EventQueueDeps {
  /** Runs `flush` once, soon: at the next frame of the screen. */
  schedule(flush: () => void): void;
  onSnapshot(snapshot: Snapshot): void;
  /** Ended calls that the snapshot did not have. */
  onEnded(part: EndedPart): void;
  onEvents(events: readonly WatchEvent[]): void;
}

/** Holds what came since the last frame and hands it on in one go, in order, each event once. */
export interface EventQueue {
  snapshot(snapshot: Snapshot): void;
  ended(part: EndedPart): void;
  /** Drops what is not newer than what it has (SF13). Returns how many it took. */
  events(events: readonly WatchEvent[]): number;
  /** Number of the newest event taken; null before the first snapshot. */
  readonly seq: number | null;
  close(): void;
}

export function createEventQueue(deps: EventQueueDeps): EventQueue {
  let seq: number | null = null;
  let snapshot: Snapshot | undefined;
  let parts: EndedPart[] = [];
  let events: WatchEvent[] = [];
  let scheduled = false;
  let closed = false;

  const flush = () => {
    scheduled = false;
    if (closed) return;
    const [first, ended, rest] = [snapshot, parts, events];
    snapshot = undefined;
    parts = [];
    events = [];
    if (first) deps.onSnapshot(first);
    for (const part of ended) deps.onEnded(part);
    if (rest.length > 0) deps.onEvents(rest);
  };
  const wake = () => {
    if (scheduled) return;
    scheduled = true;
    deps.schedule(flush);
  };
  const take = (event: WatchEvent): boolean => {
    if (seq === null || event.seq <= seq) return false;
    seq = event.seq;
    events.push(event);
    return true;
  };

  return {
    snapshot: (given) => {
      seq = given.seq;
      snapshot = given;
      // What was queued before it is in it.
      parts = [];
      events = [];
      wake();
    },
    ended: (part) => {
      parts.push(part);
      wake();
    },
    events: (given) => {
      const taken = given.filter(take).length;
      if (taken > 0) wake();
      return taken;
    },
    get seq() {
      return seq;
    },
    close: () => {
      closed = true;
    },
  };
}
