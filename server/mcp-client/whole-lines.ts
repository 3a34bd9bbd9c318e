import type { Readable } from 'node:stream';
import { createTurns } from './turns.ts';

/** Of short lines so much is taken before the time is looked at. */
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
  /** Of a line whose end has not come; put together once, however small its parts are. */
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
