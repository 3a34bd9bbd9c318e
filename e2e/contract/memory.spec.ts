import { connect as connectTcp } from 'node:net';
import { get } from './kit/ask.ts';
import { finalCall, invoke } from './kit/calls.ts';
import { expect, test } from './kit/contract-test.ts';
import { openRawSocket, toFrame } from './kit/raw-socket.ts';

const MIB = 1024 * 1024;
/** Without a bound the bytes of this test alone are 900 MiB. */
const MOST_MIB = 450;
const SENDERS = 60;
const PART = Buffer.alloc(15 * MIB, 0x20);

type Board = Parameters<typeof openRawSocket>[0];

async function memoryOf(board: Board): Promise<number> {
  const { text } = await get(board, '/metrics');
  return Number(/^process_resident_memory_bytes (\d+)$/m.exec(text)?.[1]) / MIB;
}

/** Until the sockets have taken what they take: no more goes out for a while. */
async function untilQuiet(written: () => number): Promise<void> {
  let before = -1;
  await expect
    .poll(
      () => {
        const now = written();
        const isQuiet = now === before;
        before = now;
        return isQuiet;
      },
      { timeout: 60_000, intervals: [1_000] },
    )
    .toBe(true);
}

test('§5 60 frames of 16 MiB that never end take bounded memory, and a large result is taken meanwhile', async ({
  connect,
  startServer,
}) => {
  const board = await startServer();
  const head = toFrame({ opcode: 1, claimedLength: BigInt(16 * MIB - 100) });
  const senders = await Promise.all(
    Array.from({ length: SENDERS }, () => openRawSocket(board, '/ws/client')),
  );
  for (const { socket } of senders) {
    socket.write(head);
    socket.write(PART);
  }
  await untilQuiet(() => senders.reduce((sum, { socket }) => sum + socket.bytesWritten, 0));
  expect(await memoryOf(board)).toBeLessThan(MOST_MIB);
  const client = await connect.client(board, { tools: ['honest'] });
  const id = await invoke(board, 'honest', {}, { timeout_ms: 300_000 });
  const request = await client.request();
  client.succeed(request.id, 'x'.repeat(5 * MIB));
  expect((await finalCall(board, id)).status).toBe('SUCCEEDED');
  expect(await memoryOf(board)).toBeLessThan(MOST_MIB);
  for (const { socket } of senders) socket.destroy();
});

test('§6 500 bodies of 1 MiB that never end take bounded memory, and a request is answered meanwhile', async ({
  startServer,
}) => {
  const board = await startServer();
  const { hostname, port } = new URL(board.url);
  const body = Buffer.alloc(MIB - 2_000, 0x20);
  const senders = Array.from({ length: 500 }, () => {
    const socket = connectTcp(Number(port), hostname);
    socket.on('error', () => {});
    const headers = [
      'POST /v1/tools/calculation.eval/invoke HTTP/1.1',
      `Host: ${hostname}:${port}`,
      `Authorization: Bearer ${board.token}`,
      'Content-Type: application/json',
      `Content-Length: ${MIB - 1_000}`,
    ];
    socket.write(`${headers.join('\r\n')}\r\n\r\n`);
    socket.write(body);
    return socket;
  });
  await untilQuiet(() => senders.reduce((sum, socket) => sum + socket.bytesWritten, 0));
  expect(await memoryOf(board)).toBeLessThan(MOST_MIB);
  const id = await invoke(board, 'calculation.eval', { expression: `1+${'1'.repeat(50)}` });
  expect((await finalCall(board, id)).status).toBe('SUCCEEDED');
  for (const socket of senders) socket.destroy();
});
