import type { Logger } from '../logger.ts';
import type { EventBus, LoggedEvent } from './event-bus.ts';
import { createEventLog } from './event-log.ts';
import { createInboxes } from './inboxes.ts';
import { loggedEvent, numbered } from './logged-event.ts';
import { createSeqReservation, SEQ_BLOCK } from './seq-reservation.ts';

type OnEvents = (events: readonly LoggedEvent[]) => void;

interface Subscriber {
  readonly onEvents: OnEvents;
  /** Number of the newest event when it came: what is newer is news to it. */
  readonly from: number;
  /** What it missed before it came, until it is told. */
  missed: readonly LoggedEvent[];
}

export interface MemoryBusOptions {
  /** Number of the first event: what the store's `reserveSeqs(SEQ_BLOCK)` gave. */
  readonly firstSeq?: number;
  readonly seqBlock?: number;
  /** The store's `reserveSeqs`, for the blocks after the first. */
  reserve?(count: number): Promise<number>;
  /** How far back the log reaches: whichever bound is met first. */
  readonly maxEvents?: number;
  readonly maxBytes?: number;
  /** When subscribers are told. Default: once this turn of the event loop is over. */
  schedule?(flush: () => void): void;
  /** A subscriber or inbox threw. Default: an uncaught error, as it is a bug. */
  logger?: Logger;
}

/** The event bus of a single process (rules EB1 to EB11). */
export function createMemoryBus(options: MemoryBusOptions = {}): EventBus {
  const {
    firstSeq = 1,
    seqBlock = SEQ_BLOCK,
    maxEvents = 20_000,
    maxBytes = 32 * 1024 * 1024,
    schedule = setImmediate,
    logger = throwLater,
  } = options;
  const log = createEventLog({ firstSeq, maxEvents, maxBytes });
  const inboxes = createInboxes(logger);
  const numbers =
    options.reserve &&
    createSeqReservation({ firstSeq, block: seqBlock, reserve: options.reserve, logger });
  const subscribers = new Set<Subscriber>();
  /** Of this moment. Not read from the log, which may have dropped some by then. */
  let fresh: LoggedEvent[] = [];
  let seq = firstSeq - 1;
  let scheduled = false;

  function flushSoon(): void {
    if (scheduled) return;
    scheduled = true;
    schedule(flush);
  }

  function flush(): void {
    scheduled = false;
    const events = fresh;
    fresh = [];
    for (const subscriber of [...subscribers]) {
      const news = newsFor(subscriber, events);
      // One that was closed by another meanwhile is not told any more.
      if (news.length > 0 && subscribers.has(subscriber)) publish(subscriber, news);
    }
  }

  function publish(subscriber: Subscriber, events: readonly LoggedEvent[]): void {
    try {
      subscriber.onEvents(events);
    } catch (error) {
      logger.error(error);
    }
  }

  return {
    publish(body) {
      seq += 1;
      numbers?.used(seq);
      const entry = loggedEvent(numbered(body, seq));
      log.append(entry);
      if (subscribers.size > 0) {
        fresh.push(entry);
        flushSoon();
      }
      return seq;
    },
    get seq() {
      return seq;
    },
    subscribe({ since, onEvents }) {
      const missed = since === undefined ? [] : log.since(since);
      const subscriber: Subscriber = { onEvents, from: seq, missed: missed ?? [] };
      subscribers.add(subscriber);
      if (subscriber.missed.length > 0) flushSoon();
      return {
        complete: missed !== undefined,
        close: () => void subscribers.delete(subscriber),
      };
    },
    openInbox: inboxes.open,
    deliver: async (address, message) => inboxes.deliver(address, message),
  };
}

/** Mostly the very list that all others get too. */
function newsFor(subscriber: Subscriber, events: readonly LoggedEvent[]): readonly LoggedEvent[] {
  const { missed, from } = subscriber;
  subscriber.missed = [];
  const [first] = events;
  const news =
    first === undefined || first.event.seq > from
      ? events
      : events.filter(({ event }) => event.seq > from);
  return missed.length > 0 ? [...missed, ...news] : news;
}

const throwLater: Logger = {
  error: (cause) =>
    queueMicrotask(() => {
      throw cause;
    }),
  info: () => {},
};
