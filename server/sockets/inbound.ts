import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { ByteBudget, type HeldBytes } from '#lib/limits/byte-budget';
import { afterWindow, isTooSlow, type Progress } from '#lib/limits/pace';
import { runIn, type Semaphore } from '#lib/limits/semaphore';
import type { Clock } from '../base/clock.ts';
import { type Collector, createCollector } from '../base/collect-garbage.ts';

/** Where bytes come from: a socket, or a request with a body. */
export interface InboundSource {
  pause(): void;
  resume(): void;
  /** Ends it: what it sends takes too long. */
  cut(): void;
}

/** One source's bytes in memory. */
export interface InboundShare {
  /** `arriving`: of what is not complete yet. `waiting`: of what is, until it is handled. In bytes. */
  set(held: { readonly arriving: number; readonly waiting: number }): void;
}

/** Up to here a source is always read, and not counted. */
export const SMALL_BYTES = 16 * 1024;
/** All sources together may have so much; two messages of the largest size may be beside it. */
const MOST_BYTES = 8 * 1024 * 1024;
/** From here on all sources are read again. */
const ENOUGH_BYTES = 6 * 1024 * 1024;
/** One that is read while others wait has to send so much in each window, and all in so many of them. */
const WINDOW = { windowMs: 3_000, bytes: 16 * 1024, windows: 20 };

/** The garbage of a larger one is collected; smaller ones leave memory soon enough by themselves. */
const COLLECTED_BYTES = 256 * 1024;

interface Share {
  readonly source: InboundSource;
  readonly held: HeldBytes;
  arriving: number;
  waiting: number;
  isPaused: boolean;
}

/** One of those that are read while the others wait. */
interface Turn extends Progress {
  readonly share: Share;
}

/**
 * Bounds what has come in over all sockets and requests and is not handled yet
 * (rule UN3). Above the limit two messages are read, each until it is complete:
 * the one that began first, so that each has its turn, and the one that began
 * last, so that a newcomer does not wait for all who send nothing more. One that
 * is slow is cut.
 */
export class InboundBudget {
  readonly #clock: Clock;
  readonly #collector: Collector;
  /** Shares with more than little in memory, the oldest first. */
  readonly #large = new Set<Share>();
  readonly #bytes = new ByteBudget(MOST_BYTES);
  #isOver = false;
  #turns: { oldest?: Turn | undefined; newest?: Turn | undefined } = {};
  #stopWatching: (() => void) | undefined;

  constructor({ clock, collector = createCollector() }: { clock: Clock; collector?: Collector }) {
    this.#clock = clock;
    this.#collector = collector;
  }

  open(source: InboundSource): InboundShare {
    const held = this.#bytes.hold(0);
    const share: Share = { source, held, arriving: 0, waiting: 0, isPaused: false };
    return { set: ({ arriving, waiting }) => this.#count(share, arriving, waiting) };
  }

  #isTooMuch(): boolean {
    return this.#bytes.total > (this.#isOver ? ENOUGH_BYTES : MOST_BYTES);
  }

  // A complete message waits for the server, not for its sender.
  #isArriving(share: Share): boolean {
    return this.#large.has(share) && share.waiting === 0;
  }

  #next(before: Turn | undefined, other: Turn | undefined, shares: Share[]): Turn | undefined {
    if (before && this.#isArriving(before.share)) return before;
    // A message that waits for the server leaves room soon, and no one needs to be read for that.
    if (this.#bytes.isOver && shares.some(({ waiting }) => waiting > 0)) return undefined;
    const share = shares.find((one) => this.#isArriving(one) && one !== other?.share);
    return share && { share, moved: share.arriving, windows: 0 };
  }

  #balance(): void {
    this.#isOver = this.#isTooMuch();
    const isOver = this.#isOver;
    const shares = [...this.#large];
    const { oldest: first, newest: last } = this.#turns;
    const oldest = isOver ? this.#next(first, last, shares) : undefined;
    const newest = isOver ? this.#next(last, oldest, shares.toReversed()) : undefined;
    this.#turns = { oldest, newest };
    for (const share of shares) {
      setRead(share, !isOver || share === oldest?.share || share === newest?.share);
    }
    if (!isOver) this.#stopWatching?.();
    if (!isOver) this.#stopWatching = undefined;
    else this.#stopWatching ??= this.#watch();
  }

  /** One that is read must not keep the others waiting for ever. */
  #watch(): () => void {
    return afterWindow(this.#clock, WINDOW.windowMs, (isOwnStall) => {
      const isAlone = ![...this.#large].some(({ isPaused }) => isPaused);
      const { oldest, newest } = this.#turns;
      for (const turn of isOwnStall || isAlone ? [] : [oldest, newest])
        if (turn && isTooSlow(turn, turn.share.arriving, WINDOW)) turn.share.source.cut();
      this.#stopWatching = undefined;
      this.#balance();
    });
  }

  #count(share: Share, arriving: number, waiting: number): void {
    const before = share.held.bytes;
    const wasArriving = this.#isArriving(share);
    const waited = share.waiting;
    Object.assign(share, { arriving, waiting });
    const isLarge = arriving + waiting > SMALL_BYTES;
    share.held.resize(isLarge ? arriving + waiting : 0);
    if (isLarge) this.#large.add(share);
    else if (this.#large.delete(share)) setRead(share, true);
    const isNews = this.#isArriving(share) !== wasArriving || waiting !== waited;
    if (isNews || this.#isOver !== this.#isTooMuch()) this.#balance();
    if (!isLarge && before >= COLLECTED_BYTES) this.#collector.used(before);
  }
}

function setRead(share: Share, isRead: boolean): void {
  if (share.isPaused !== isRead) return;
  share.isPaused = !isRead;
  if (isRead) share.source.resume();
  else share.source.pause();
}

/** The incoming side of one socket, as far as it takes memory. */
export interface InboundSocket {
  /** For as long as a frame that has come is handled nothing more is read. */
  pause(): void;
  resume(): void;
  /** A frame that waits to be handled, until the returned function is called. */
  hold(bytes: number): () => void;
  /** Called while a large frame is on its way: its sender can say nothing else meanwhile. */
  onArriving(listener: () => void): void;
}

type Reason = 'handling' | 'budget';

/** Frames of two kinds of bytes that say nothing of a message: with the mask of a client. */
const CONTROL_BYTES = 6;
/** A frame that takes more than one read of the socket. */
const LARGE_BYTES = 64 * 1024;

/** Counts what a socket has sent of a frame that is not complete, and what waits to be handled. */
export function watchInbound(
  budget: InboundBudget,
  ws: Pick<WebSocket, 'on' | 'pause' | 'resume' | 'terminate'>,
  stream: Pick<Socket, 'on' | 'bytesRead'>,
): InboundSocket {
  /** A socket is read while there is no reason not to. */
  const reasons = new Set<Reason>();
  const pause = (reason: Reason) => {
    if (reasons.size === 0) ws.pause();
    reasons.add(reason);
  };
  const resume = (reason: Reason) => {
    if (reasons.delete(reason) && reasons.size === 0) ws.resume();
  };
  const listeners: (() => void)[] = [];
  /** Up to here all was complete messages. */
  let complete = stream.bytesRead;
  let arriving = 0;
  let waiting = 0;
  let isClosed = false;

  const share = budget.open({
    pause: () => pause('budget'),
    resume: () => resume('budget'),
    // It does not read what it is sent, or sends too slowly: no close frame would help.
    cut: () => ws.terminate(),
  });
  const count = () => {
    arriving = isClosed ? 0 : Math.max(0, stream.bytesRead - complete);
    share.set({ arriving, waiting });
  };
  const isControl = (data: Buffer) => {
    complete += data.length + CONTROL_BYTES;
  };

  stream.on('data', () => {
    count();
    if (arriving > LARGE_BYTES) for (const listener of listeners) listener();
  });
  ws.on('message', () => {
    complete = stream.bytesRead;
    // Not before its listener has said that it waits.
    if (arriving > 0) queueMicrotask(count);
  });
  ws.on('ping', isControl);
  ws.on('pong', isControl);
  ws.on('close', () => {
    isClosed = true;
    count();
  });
  return {
    pause: () => pause('handling'),
    resume: () => resume('handling'),
    hold(bytes) {
      waiting += bytes;
      count();
      return () => {
        waiting -= bytes;
        count();
      };
    },
    onArriving: (listener) => void listeners.push(listener),
  };
}

/** From here on a frame is handled alone: several copies of it are in memory until it is on disk. */
const ALONE_BYTES = 256 * 1024;

/**
 * Frames of one socket, in order (rule UN2). Of large ones a single one is
 * handled at a time, over all sockets that share `large`; its socket is not read
 * until that is done, so that the next ones wait at the client. So do those behind
 * a small one that takes long.
 */
export function createFrameQueue<Frame extends { readonly length: number }, Message>(deps: {
  readonly inbound: Pick<InboundSocket, 'pause' | 'resume' | 'hold'>;
  /** One of these runs at a time. */
  readonly large: Semaphore;
  /** Undefined when there is nothing to be handled. */
  parse(frame: Frame): Message | undefined;
  /** The promise settles when nothing more of the message is in memory; it never rejects. */
  handle(message: Message): Promise<void> | undefined;
  /** Messages behind it wait until it is handled, though it is small. */
  takesLong(message: Message): boolean;
}): (frame: Frame) => void {
  const { inbound, large, parse, handle, takesLong } = deps;
  /** Came in one chunk with one that is being handled, and behind it. */
  const behind: Frame[] = [];
  let isBusy = false;

  function take(frame: Frame): void {
    if (isBusy) behind.push(frame);
    else if (frame.length >= ALONE_BYTES) takeLarge(frame);
    else {
      const message = parse(frame);
      const done = message && handle(message);
      if (message && done && takesLong(message)) void done.finally(wait(frame)).then(goOn);
    }
  }

  /** Nothing more is read; returns what gives its memory back. */
  function wait(frame: Frame): () => void {
    isBusy = true;
    inbound.pause();
    return inbound.hold(frame.length);
  }

  function takeLarge(frame: Frame): void {
    const release = wait(frame);
    // Its bytes are of no use any more once they are a message.
    const unread = [frame];
    let rest: Promise<void> | undefined;
    const work = async () => {
      const message = unread.splice(0).map(parse)[0];
      // Each of the two takes long enough.
      await nextTurn();
      const done = message && handle(message);
      // Large ones of others need not wait for that.
      if (message && takesLong(message)) rest = done;
      else await done;
    };
    // A call that has ended leaves memory in the turn of the event loop after it.
    const done = runIn(large, () =>
      work()
        .then(() => nextTurn())
        .finally(() => void (rest ?? release())),
    );
    void done.then(() => rest?.finally(release)).then(goOn);
  }

  function goOn(): void {
    isBusy = false;
    for (const next of behind.splice(0)) take(next);
    if (!isBusy) inbound.resume();
  }

  return take;
}
