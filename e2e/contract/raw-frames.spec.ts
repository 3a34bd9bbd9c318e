import { get } from './kit/ask.ts';
import { expect, sharedCallboard, test } from './kit/contract-test.ts';
import { type Frame, openRawSocket, sendRaw, toFrame, upgradeHead } from './kit/raw-socket.ts';

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

test('§4 an upgrade to anywhere else is answered and ended, and Next gets none', async () => {
  const bearer = `Authorization: Bearer ${board().token}`;
  for (const [path, statuses] of [
    ['/', ['404']],
    ['/ws', ['404']],
    ['/ws/client/', ['404']],
    ['/WS/client', ['404']],
    ['/ws/client%2f', ['400', '404']],
    ['//ws/client', ['400']],
    ['/x/../ws/client', ['400']],
    ['/_next/hmr', ['404']],
    ['/_next/webpack-hmr?page=%2F', ['404']],
    ['/v1/tools', ['404']],
    ['http://127.0.0.1:1/ws/client', ['400']],
    ['http://a:99999/', ['400']],
    ['*', ['400']],
    ['/%E0%A4%A', ['400']],
    ['/%00', ['400', '404']],
  ] as const) {
    const answer = await sendRaw(board(), upgradeHead(board(), path, [bearer]));
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1] ?? `nothing: ${answer}`;
    expect(statuses, path).toContain(status);
  }
  expect((await get(board(), '/healthz')).status).toBe(200);
});

test('§4 a handshake that is none is a plain 400 or 426', async () => {
  const bearer = `Authorization: Bearer ${board().token}`;
  const head = (change: (text: string) => string) =>
    change(upgradeHead(board(), '/ws/client', [bearer]));
  for (const bytes of [
    head((text) => text.replace(/Sec-WebSocket-Key: .*\r\n/, '')),
    head((text) => text.replace(/Key: .*\r\n/, 'Key: short\r\n')),
    head((text) => text.replace('Version: 13', 'Version: 99')),
    head((text) => text.replace('GET ', 'POST ')),
    head((text) => text.replace('\r\n\r\n', '\r\nSec-WebSocket-Protocol: a b, ,c\r\n\r\n')),
  ]) {
    expect(await sendRaw(board(), bytes)).toMatch(/^HTTP\/1\.1 4\d\d /);
  }
});

test('§9 bytes that are no HTTP, and heads without end, are answered and ended', async () => {
  const host = `Host: ${new URL(board().url).host}\r\n`;
  for (const [what, bytes] of [
    ['noise', '\u0000\u0001\u0002\r\n\r\n'],
    ['a TLS hello', Buffer.from('16030100a5010000a10303', 'hex')],
    ['16 KB of one header', `GET / HTTP/1.1\r\n${host}X: ${'x'.repeat(20_000)}\r\n\r\n`],
    [
      '2,001 headers',
      `GET / HTTP/1.1\r\n${host}${Array.from({ length: 2_001 }, (_, n) => `X-${n}: 1\r\n`).join('')}\r\n`,
    ],
    [
      'two lengths',
      `POST /v1/runs HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\nx`,
    ],
    [
      'a length and chunks',
      `POST /v1/runs HTTP/1.1\r\n${host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['an empty host', 'GET /v1/tools HTTP/1.1\r\nHost: \r\nConnection: close\r\n\r\n'],
    ['no host', 'GET /v1/tools HTTP/1.1\r\n\r\n'],
    [
      'two hosts',
      `GET /v1/tools HTTP/1.1\r\n${host}Host: evil.example\r\nConnection: close\r\n\r\n`,
    ],
    [
      '100 extensions',
      upgradeHead(board(), '/ws/client', [
        `Sec-WebSocket-Extensions: ${Array.from({ length: 100 }, (_, n) => `x${n}`).join(',')}`,
      ]),
    ],
    [
      'a protocol list of 14 KB',
      upgradeHead(board(), '/ws/client', [`Sec-WebSocket-Protocol: b${' '.repeat(14_000)}x`]),
    ],
  ] as const) {
    expect(await sendRaw(board(), bytes), what).toMatch(/^HTTP\/1\.1 4\d\d /);
  }
  expect((await get(board(), '/healthz')).status).toBe(200);
});
