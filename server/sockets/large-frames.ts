import { setImmediate as nextTurn } from 'node:timers/promises';
import { runIn, type Semaphore } from '#lib/limits/semaphore';
import type { InboundSocket } from './inbound.ts';

/** From here on a frame is handled alone: several copies of it are in memory until it is on disk. */
const LARGE_BYTES = 256 * 1024;

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
