import { estimateJsonBytes } from '#lib/json/measure-json';
import type { LoggedEvent } from './event-bus.ts';

/**
 * The newest events, for watchers that come back. Bound by their number and by
 * their bytes, whichever is reached first; the bytes are estimates, because the
 * text of an event is made only when it is sent, and without a watcher never.
 */
export interface EventLog {
  /** Its number is that of the event before, plus one. */
  append(entry: LoggedEvent): void;
  /** What is newer than `seq`, oldest first; undefined when the log no longer reaches back. */
  since(seq: number): LoggedEvent[] | undefined;
}

interface Slot {
  readonly entry: LoggedEvent;
  readonly bytes: number;
}

export function createEventLog(options: {
  /** Number of the first event to come. */
  readonly firstSeq: number;
  readonly maxEvents: number;
  readonly maxBytes: number;
}): EventLog {
  const { maxEvents, maxBytes } = options;
  /** A ring: the event `seq` lies at `seq % maxEvents`. */
  const slots: (Slot | undefined)[] = [];
  let oldest = options.firstSeq;
  let next = options.firstSeq;
  let total = 0;

  function dropOldest(): void {
    total -= slots[oldest % maxEvents]?.bytes ?? 0;
    slots[oldest % maxEvents] = undefined;
    oldest += 1;
  }

  return {
    append(entry) {
      if (next - oldest === maxEvents) dropOldest();
      const bytes = estimateJsonBytes(entry.event);
      slots[next % maxEvents] = { entry, bytes };
      total += bytes;
      next += 1;
      // guard: event-log-limited-in-bytes
      while (total > maxBytes) dropOldest();
    },
    since(seq) {
      // A number from the future is of another log: it says nothing about this one.
      if (seq < oldest - 1 || seq >= next) return undefined;
      const newer: LoggedEvent[] = [];
      for (let at = seq + 1; at < next; at += 1) {
        const slot = slots[at % maxEvents];
        if (slot) newer.push(slot.entry);
      }
      return newer;
    },
  };
}
