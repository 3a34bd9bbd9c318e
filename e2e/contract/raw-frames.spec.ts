import { get } from './kit/ask.ts';
import { expect, sharedCallboard, test } from './kit/contract-test.ts';
import { type Frame, openRawSocket, toFrame } from './kit/raw-socket.ts';

const board = sharedCallboard();
const TEXT = 1;
const CONTINUATION = 0;
const CLOSE = 8;
const PING = 9;

const closeWith = (code: number, reason = Buffer.alloc(0)): Frame => {
  const payload = Buffer.alloc(2);
  payload.writeUInt16BE(code);
  return { opcode: CLOSE, payload: Buffer.concat([payload, reason]) };
};
const BAD_UTF8 = Buffer.from([0x63, 0xc3, 0x28]);

/** Each with the codes that RFC 6455 has for it; null where the connection may simply end. */
const MALFORMED: readonly [what: string, frames: readonly Frame[], codes: readonly number[]][] = [
  ['the bit RSV1', [{ opcode: TEXT, rsv: 4, payload: Buffer.from('{}') }], [1002]],
  ['the bit RSV3 of a ping', [{ opcode: PING, rsv: 1 }], [1002]],
  ['no mask', [{ opcode: TEXT, masked: false, payload: Buffer.from('{}') }], [1002]],
  ['the opcode 3', [{ opcode: 3 }], [1002]],
  ['the opcode 11', [{ opcode: 11 }], [1002]],
  ['a ping of 126 bytes', [{ opcode: PING, payload: Buffer.alloc(126) }], [1002]],
  ['a ping in fragments', [{ opcode: PING, fin: false }], [1002]],
  ['a close of one byte', [{ opcode: CLOSE, payload: Buffer.from([3]) }], [1002]],
  ['the close code 1005', [closeWith(1_005)], [1002]],
  ['the close code 999', [closeWith(999)], [1002]],
  ['the close code 5000', [closeWith(5_000)], [1002]],
  ['a reason that is not UTF-8', [closeWith(1_000, BAD_UTF8)], [1007]],
  ['text that is not UTF-8', [{ opcode: TEXT, payload: BAD_UTF8 }], [1007]],
  [
    'text that is not UTF-8 over fragments',
    [
      { opcode: TEXT, fin: false, payload: BAD_UTF8.subarray(0, 2) },
      { opcode: CONTINUATION, payload: BAD_UTF8.subarray(2) },
    ],
    [1007],
  ],
  ['a continuation of nothing', [{ opcode: CONTINUATION }], [1002]],
  [
    'a new message within another',
    [
      { opcode: TEXT, fin: false },
      { opcode: TEXT, payload: Buffer.from('{}') },
    ],
    [1002],
  ],
  ['a length of 2⁶³', [{ opcode: TEXT, claimedLength: 2n ** 63n }], [1002, 1009]],
  ['a length of 200 MB', [{ opcode: TEXT, claimedLength: 200_000_000n }], [1009]],
  [
    'thousands of tiny fragments',
    [
      { opcode: TEXT, fin: false },
      ...Array.from({ length: 5_000 }, () => ({
        opcode: CONTINUATION,
        fin: false,
        payload: Buffer.from(' '),
      })),
    ],
    [1008, 1009],
  ],
];

for (const path of ['/ws/client', '/ws/watch']) {
  test(`§5 a malformed frame on ${path} ends that connection with its code, and nothing else`, async ({
    connect,
  }) => {
    const neighbour = await connect.client(board());
    const endings = await Promise.all(
      MALFORMED.map(async ([what, frames, codes]) => {
        const raw = await openRawSocket(board(), path);
        raw.write(...frames);
        return { what, codes, ...(await raw.ending()) };
      }),
    );
    for (const { what, codes, code, ended } of endings) {
      expect(ended, what).toBe(true);
      expect(codes, what).toContain(code);
    }
    await neighbour.settled();
    expect((await get(board(), '/healthz')).status).toBe(200);
  });
}

test('§5 a frame that comes byte by byte, in fragments and between pings is a message as any other', async () => {
  const raw = await openRawSocket(board(), '/ws/client');
  const message = Buffer.from('{"type":"probe","nonce":"böse 🦞"}');
  const bytes = Buffer.concat([
    toFrame({ opcode: TEXT, fin: false, payload: message.subarray(0, 27) }),
    toFrame({ opcode: PING, payload: Buffer.from('between') }),
    toFrame({ opcode: CONTINUATION, fin: false }),
    toFrame({ opcode: CONTINUATION, payload: message.subarray(27) }),
  ]);
  raw.socket.setNoDelay(true);
  for (const byte of bytes) raw.socket.write(Buffer.from([byte]));
  await expect.poll(() => raw.texts()).toEqual(['{"type":"probe_ack","nonce":"böse 🦞"}']);
  raw.write(closeWith(1_000));
  expect(await raw.ending()).toEqual({ code: 1_000, ended: true });
});
