import type { WebSocket } from 'ws';

/** From here on a frame is handled alone: several copies of it are in memory until it is on disk. */
const LARGE_BYTES = 256 * 1024;

type Handled = Promise<unknown> | undefined;

export type Turns = ReturnType<typeof createTurns>;

/** One frame of each socket that shares it is handled at a time, in the order of their arrival. */
export function createTurns() {
  let last: Handled;
  return (work: () => Handled): Promise<unknown> => {
    const turn = last ? last.then(work) : Promise.resolve(work());
    const done = turn.finally(() => {
      if (last === done) last = undefined;
    });
    last = done;
    return done;
  };
}

/**
 * Frames of one socket, in order (rule UN2). Of large ones a single one is
 * handled at a time, over all sockets that share `turns`; its socket is not read
 * until that is done, so that the next ones wait at the client.
 */
export function createFrameQueue<Frame extends { readonly length: number }>(deps: {
  readonly socket: Pick<WebSocket, 'pause' | 'resume'>;
  readonly turns: Turns;
  /** What it returns settles when nothing more of the frame is in memory; it never rejects. */
  handle(frame: Frame): Handled;
}): (frame: Frame) => void {
  const { socket, turns, handle } = deps;
  /** Came in one chunk with a large one, and behind it. */
  const behind: Frame[] = [];
  let isBusy = false;

  function take(frame: Frame): void {
    if (isBusy) behind.push(frame);
    else if (frame.length < LARGE_BYTES) void handle(frame);
    else void takeLarge(frame);
  }

  async function takeLarge(frame: Frame): Promise<void> {
    isBusy = true;
    socket.pause();
    await turns(() => handle(frame));
    isBusy = false;
    for (const next of behind.splice(0)) take(next);
    if (!isBusy) socket.resume();
  }

  return take;
}
