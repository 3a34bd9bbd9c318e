import type { Readable } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';

/** So long what one server sends may keep the program busy, before the turn of all else. */
const TURN_MS = 5;
const LONGEST_MS = 1_000;

/**
 * Shares time between what one server sends and all else: a server that sends without an end gets
 * half of it at most, and what it has sent beyond waits at the server.
 */
export function createTurns() {
  let began = performance.now();
  return {
    /** Tells that what was taken since the turn began took so long that others are to have theirs. */
    isOver: (): boolean => performance.now() - began > TURN_MS,
    /** Resolves when others have had as long as was taken, with what followed from it. */
    async next(): Promise<void> {
      await nextTurn();
      const took = performance.now() - began;
      if (took > TURN_MS) await pause(Math.min(took, LONGEST_MS));
      began = performance.now();
    },
    begin(): void {
      began = performance.now();
    },
  };
}

/** So much of short lines is taken before the time is looked at. */
const PIECE_BYTES = 2 * 1024;
const LINE_END = 10;

/**
 * Gives what a program writes to `take`, in whole lines and in turns with all else (rule MC73). A
 * line that is longer than `most` is given as far as it has come.
 */
export async function takeLines(
  stream: Readable,
  take: (bytes: Buffer) => void,
  most: number,
): Promise<void> {
  const turns = createTurns();
  /** Parts of a line whose end has not come; they are put together once, however small they are. */
  let open: Buffer[] = [];
  let openBytes = 0;
  const give = (bytes: Buffer) => {
    take(open.length === 0 ? bytes : Buffer.concat([...open, bytes]));
    [open, openBytes] = [[], 0];
  };
  for await (const chunk of stream) {
    turns.begin();
    const bytes = Buffer.from(chunk);
    let at = 0;
    for (let end = pieceEnd(bytes, at); end > 0; end = pieceEnd(bytes, at)) {
      give(bytes.subarray(at, end));
      at = end;
      if (turns.isOver()) await turns.next();
    }
    const rest = bytes.subarray(at);
    openBytes += rest.length;
    if (openBytes > most) give(rest);
    else if (rest.length > 0) open.push(rest);
    await turns.next();
  }
}

/** Where a piece of whole lines ends that begins there; 0: no line ends. */
export function pieceEnd(bytes: Buffer, from: number): number {
  const far = bytes.indexOf(LINE_END, from + PIECE_BYTES);
  const end = (far < 0 ? bytes.lastIndexOf(LINE_END) : far) + 1;
  return end > from ? end : 0;
}
