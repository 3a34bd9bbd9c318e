import { toFrame } from '../../contract/kit/raw-socket.ts';
import type { Random } from '../random.ts';

const TEXTS = ['', '{', '{}', '[', '{"type":"probe","nonce":"n"}', 'null', '"', '😀', '\u0000'];

/** Frames that nobody sends, and that a server must take all the same. */
export function oddFrames(random: Random): Buffer[] {
  const some = (most: number) => random.bytes(random.between(0, most));
  const text = () => Buffer.from(random.pick(TEXTS));
  const one = (opcode: number, payload: Buffer, more = {}) => [
    toFrame({ opcode, payload, ...more }),
  ];
  const odd = [
    () => one(9, some(125)),
    () => one(10, some(125)),
    () => one(1, text()),
    () => one(2, some(300)),
    () => {
      // The frame is as long as it says, and says so in more bytes than it takes.
      const payload = text();
      return one(1, payload, { claimedLength: BigInt(payload.length) });
    },
    () => {
      const payload = Buffer.from(`{"type":"${'😀'.repeat(random.between(0, 20))}"}`);
      const at = random.between(0, payload.length);
      return [
        // In the middle of a character, too; with nothing in a piece, and a ping between two.
        ...one(1, payload.subarray(0, at), { fin: false }),
        ...(random.chance(0.5) ? one(9, some(20)) : []),
        ...(random.chance(0.5) ? one(0, Buffer.alloc(0), { fin: false }) : []),
        ...one(0, payload.subarray(at)),
      ];
    },
  ];
  return random.pick(odd)();
}

/** Mostly wrong in one way or more: bits, opcodes, lengths, masks, bytes that are no frame. */
export function badFrame(random: Random): Buffer {
  const payload = random.chance(0.5)
    ? random.bytes(random.between(0, 200))
    : Buffer.from(random.pick([...TEXTS, '\ud800']));
  const whole = toFrame({
    opcode: random.between(0, 15),
    payload,
    fin: random.chance(0.6),
    rsv: random.chance(0.3) ? random.between(1, 7) : 0,
    masked: random.chance(0.8),
    ...(random.chance(0.1)
      ? { claimedLength: random.pick([2n ** 63n, 2n ** 62n, 2n ** 40n, 17n * 2n ** 20n, 1n]) }
      : {}),
  });
  if (random.chance(0.15)) return random.bytes(random.between(1, 60));
  if (random.chance(0.15)) {
    const torn = Buffer.from(whole);
    const at = random.between(0, torn.length - 1);
    torn[at] = random.between(0, 255);
    return torn;
  }
  return random.chance(0.1) ? whole.subarray(0, random.between(1, whole.length)) : whole;
}

/** Wrong beyond doubt. */
export const worstFrame = toFrame({ opcode: 0xb, rsv: 7, masked: false });
