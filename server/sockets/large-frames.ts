import { setImmediate as nextTurn } from 'node:timers/promises';
import type { InboundSocket } from './inbound-socket.ts';

/** From here on a frame is handled alone: several copies of it are in memory until it is on disk. */
const LARGE_BYTES = 256 * 1024;

export type Turns = ReturnType<typeof createTurns>;

/** One frame of all that share it is handled at a time, in the order of their arrival. */
export function createTurns() {
  let last: Promise<void> = Promise.resolve();
  return (work: () => Promise<unknown>, release: () => void): Promise<void> => {
    const turn = last
      .then(work)
      // A call that has ended leaves memory in the turn after.
      .then(() => nextTurn())
      .finally(release);
    // The next one has its turn all the same; the error is its caller's.
    last = turn.catch(() => {});
    return turn;
  };
}

/**
 * Frames of one socket, in order (rule UN2). Of large ones a single one is
 * handled at a time, over all sockets that share `turns`; its socket is not read
 * until that is done, so that the next ones wait at the client. So do those behind
 * a small one that takes long.
 */
export function createFrameQueue<Frame extends { readonly length: number }, Message>(deps: {
  readonly inbound: Pick<InboundSocket, 'pause' | 'resume' | 'hold'>;
  readonly turns: Turns;
  /** Undefined when there is nothing to be handled. */
  parse(frame: Frame): Message | undefined;
  /** What it returns settles when nothing more of the message is in memory; it never rejects. */
  handle(message: Message): Promise<void> | undefined;
  /** Whether those behind it wait until it is handled, though it is small. */
  takesLong(message: Message): boolean;
}): (frame: Frame) => void {
  const { inbound, turns, parse, handle, takesLong } = deps;
  /** Came in one chunk with one that is being handled, and behind it. */
  const behind: Frame[] = [];
  let isBusy = false;

  function take(frame: Frame): void {
    if (isBusy) behind.push(frame);
    else if (frame.length >= LARGE_BYTES) takeLarge(frame);
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
    const turn = turns(work, () => void (rest ?? release()));
    void turn.then(() => rest?.finally(release)).then(goOn);
  }

  function goOn(): void {
    isBusy = false;
    for (const next of behind.splice(0)) take(next);
    if (!isBusy) inbound.resume();
  }

  return take;
}
