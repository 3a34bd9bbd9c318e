import { isUtf8 } from 'node:buffer';
import { LIMITS } from '#lib/protocol/limits';

/** A server that keeps to RFC 6455 has to do this once it has these bytes. */
export interface Judgement {
  /** Frames that it read before it came to its verdict; one that it could not finish is not among them. */
  readonly frames: number;
  /** It ends the connection; it waits for the rest of a frame; or it waits for the next one. */
  readonly verdict: 'ends' | 'waits' | 'goes on';
}

interface Head {
  readonly fin: boolean;
  readonly opcode: number;
  readonly length: number;
  /** Where the payload begins. */
  readonly start: number;
}

/** Reads the frames of a client by the rules of RFC 6455, section 5, with no extension agreed on. */
export function judgeFrames(bytes: Buffer): Judgement {
  let at = 0;
  let frames = 0;
  /** The bytes of a message that is not whole yet. */
  let open: { readonly opcode: number; readonly parts: Buffer[] } | undefined;
  for (;;) {
    const head = readHead(bytes, at, open !== undefined);
    if (head === 'ends') return { frames: frames + 1, verdict: 'ends' };
    if (head === 'waits') return { frames, verdict: at === bytes.length ? 'goes on' : 'waits' };
    const { fin, opcode, length, start } = head;
    const before = open?.parts.reduce((sum, part) => sum + part.length, 0) ?? 0;
    if (opcode < 8 && length > 0 && before + length > LIMITS.frameBytes)
      return { frames: frames + 1, verdict: 'ends' };
    const keyed = start + 4;
    if (bytes.length < keyed + length) return { frames, verdict: 'waits' };
    frames += 1;
    at = keyed + length;
    // Whatever reason it gives, and be it nonsense: a close is the end.
    if (opcode === 8) return { frames, verdict: 'ends' };
    if (opcode > 8) continue;
    const message: { readonly opcode: number; readonly parts: Buffer[] } = open ?? {
      opcode,
      parts: [],
    };
    message.parts.push(unmasked(bytes.subarray(keyed, at), bytes.subarray(start, keyed)));
    open = fin ? undefined : message;
    if (fin && message.opcode === 1 && !isUtf8(Buffer.concat(message.parts)))
      return { frames, verdict: 'ends' };
  }
}

function readHead(bytes: Buffer, at: number, isInMessage: boolean): Head | 'ends' | 'waits' {
  const [first, second] = bytes.subarray(at, at + 2);
  if (first === undefined || second === undefined) return 'waits';
  const [fin, opcode, short] = [first >= 0x80, first & 0x0f, second & 0x7f];
  const isKnown = [0, 1, 2, 8, 9, 10].includes(opcode);
  if ((first & 0x70) !== 0 || !isKnown || second < 0x80) return 'ends';
  if (opcode >= 8 && (!fin || short > 125 || (opcode === 8 && short === 1))) return 'ends';
  if (opcode < 8 && isInMessage !== (opcode === 0)) return 'ends';
  if (short < 126) return { fin, opcode, length: short, start: at + 2 };
  const start = at + 2 + (short === 126 ? 2 : 8);
  if (bytes.length < start) return 'waits';
  const length = short === 126 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
  return { fin, opcode, length, start };
}

const unmasked = (payload: Buffer, key: Buffer): Buffer =>
  Buffer.from(payload.map((byte, index) => byte ^ (key[index % 4] ?? 0)));
