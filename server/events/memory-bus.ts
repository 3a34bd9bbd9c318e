import { estimateJsonBytes } from '#lib/json/measure-json';
import type { WatchEvent, WatchEventBody } from '#lib/protocol/watch-messages';
import { reportLater } from '#lib/util/emitter';
import type { Logger } from '../base/logger.ts';
import type { EventBus, InstanceMessage, LoggedEvent } from './event-bus.ts';

/** Either id may have any characters. */
export const instanceAddress = (clientId: string, instanceId: string): string =>
  `${clientId.length}/${clientId}/${instanceId}`;

/** The text is made when the first watcher wants it, and then shared by all. */
export function loggedEvent(event: WatchEvent): LoggedEvent {
  let json: string | undefined;
  return {
    event,
    get json() {
      json ??= JSON.stringify(event);
      return json;
    },
  };
}

/** Only TypeScript needs it said that a member of the union without its number gets it back. */
export const numbered = (body: WatchEventBody, seq: number): WatchEvent =>
  ({ ...body, seq }) as WatchEvent;

type OnEvents = (events: readonly LoggedEvent[]) => void;

interface Subscriber {
  readonly onEvents: OnEvents;
  /** Number of the newest event when it came: only newer ones are for it. */
  readonly from: number;
  /** It missed these before it came; empty once they are delivered. */
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
  /** When events are delivered. Default: once this turn of the event loop is over. */
  schedule?(flush: () => void): void;
  /** A subscriber or inbox threw. Default: an uncaught error, as it is a bug. */
  logger?: Logger;
}

/** The event bus of a single process (rules EB1 to EB11). */
export const createMemoryBus = (options: MemoryBusOptions = {}): EventBus => new MemoryBus(options);

/** The bus of a server, whose numbers go on where those of an earlier one ended. */
export async function openBus(deps: {
  readonly store: { reserveSeqs(this: void, count: number): Promise<number> };
  readonly logger: Logger;
}): Promise<EventBus> {
  const reserve = deps.store.reserveSeqs;
  return new MemoryBus({ firstSeq: await reserve(SEQ_BLOCK), reserve, logger: deps.logger });
}

class MemoryBus implements EventBus {
  readonly #log: ReturnType<typeof createEventLog>;
  /** The sockets of this process by the address of their instance. */
  readonly #inboxes = new Map<string, { readonly receive: Receive }>();
  readonly #reserve: MemoryBusOptions['reserve'];
  readonly #seqBlock: number;
  readonly #schedule: (flush: () => void) => void;
  readonly #logger: Logger;
  readonly #subscribers = new Set<Subscriber>();
  /** The events of this moment. They are not read from the log, which may have dropped some by then. */
  #fresh: LoggedEvent[] = [];
  #seq: number;
  /** Half of a block before its end, so that no number waits for the disk. */
  #reserveAt: number;
  #isScheduled = false;

  constructor({
    firstSeq = 1,
    seqBlock = SEQ_BLOCK,
    reserve,
    maxEvents = 2_000,
    maxBytes = 4 * 1024 * 1024,
    schedule = setImmediate,
    logger = throwLater,
  }: MemoryBusOptions) {
    this.#seq = firstSeq - 1;
    this.#schedule = schedule;
    this.#logger = logger;
    this.#log = createEventLog({ firstSeq, maxEvents, maxBytes });
    this.#reserve = reserve;
    this.#seqBlock = seqBlock;
    this.#reserveAt = firstSeq + seqBlock / 2;
  }

  get seq(): number {
    return this.#seq;
  }

  publish(body: WatchEventBody): number {
    this.#seq += 1;
    if (this.#seq >= this.#reserveAt) this.#reserveNext();
    const entry = loggedEvent(numbered(body, this.#seq));
    this.#log.append(entry);
    if (this.#subscribers.size > 0) {
      this.#fresh.push(entry);
      this.#flushSoon();
    }
    return this.#seq;
  }

  subscribe({ since, onEvents }: Parameters<EventBus['subscribe']>[0]) {
    const missed = since === undefined ? [] : this.#log.since(since);
    const subscriber: Subscriber = { onEvents, from: this.#seq, missed: missed ?? [] };
    this.#subscribers.add(subscriber);
    if (subscriber.missed.length > 0) this.#flushSoon();
    return {
      complete: missed !== undefined,
      close: () => void this.#subscribers.delete(subscriber),
    };
  }

  openInbox(address: string, receive: Receive): () => void {
    const inbox = { receive };
    this.#inboxes.set(address, inbox);
    return () => {
      // A later inbox of this address is not this one's to close.
      if (this.#inboxes.get(address) === inbox) this.#inboxes.delete(address);
    };
  }

  async deliver(address: string, message: InstanceMessage): Promise<boolean> {
    const inbox = this.#inboxes.get(address);
    if (!inbox) return false;
    try {
      inbox.receive(message);
      return true;
    } catch (error) {
      this.#logger.error(error);
      return false;
    }
  }

  /**
   * Should a block come late or never, numbering goes on; only numbers used past the last block may
   * come again after a restart.
   */
  #reserveNext(): void {
    this.#reserveAt += this.#seqBlock; // Also when it fails: one complaint per block is enough.
    this.#reserve?.(this.#seqBlock).catch(this.#logger.error);
  }

  #flushSoon(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#schedule(() => this.#flush());
  }

  #flush(): void {
    this.#isScheduled = false;
    const events = this.#fresh;
    this.#fresh = [];
    for (const subscriber of [...this.#subscribers]) {
      const news = newsFor(subscriber, events);
      // One that another has closed meanwhile gets nothing any more.
      if (news.length > 0 && this.#subscribers.has(subscriber)) this.#pass(subscriber, news);
    }
  }

  #pass(subscriber: Subscriber, events: readonly LoggedEvent[]): void {
    try {
      subscriber.onEvents(events);
    } catch (error) {
      this.#logger.error(error);
    }
  }
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

const throwLater: Logger = { error: reportLater, info: () => {} };

type Receive = (message: InstanceMessage) => void;

/**
 * The newest events, for watchers that come back. Bound by their number and by
 * their bytes, whichever is reached first; the bytes are estimates, because the
 * text of an event is made only when it is sent, and without a watcher never.
 */
function createEventLog(options: {
  /** Number of the first event to come. */
  readonly firstSeq: number;
  readonly maxEvents: number;
  readonly maxBytes: number;
}) {
  const { maxEvents, maxBytes } = options;
  /** A ring: the event `seq` lies at `seq % maxEvents`. */
  const slots: ({ readonly entry: LoggedEvent; readonly bytes: number } | undefined)[] = [];
  let oldest = options.firstSeq;
  let next = options.firstSeq;
  let total = 0;

  function dropOldest(): void {
    total -= slots[oldest % maxEvents]?.bytes ?? 0;
    slots[oldest % maxEvents] = undefined;
    oldest += 1;
  }

  return {
    /** Its number is that of the event before, plus one. */
    append(entry: LoggedEvent): void {
      if (next - oldest === maxEvents) dropOldest();
      const bytes = estimateJsonBytes(entry.event);
      slots[next % maxEvents] = { entry, bytes };
      total += bytes;
      next += 1;
      // guard: event-log-limited-in-bytes
      while (total > maxBytes) dropOldest();
    },
    /** Gives what is newer than `seq`, oldest first; undefined when the log no longer reaches back. */
    since(seq: number): LoggedEvent[] | undefined {
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

/** Numbers taken from the store at a time: the first block by the maker of the bus. */
const SEQ_BLOCK = 1_000_000;
