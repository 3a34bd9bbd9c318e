import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { startTestServer, type TestServer } from './testing/start-test-server.ts';

const PART = 'x'.repeat(200_000);

/** Sends the most of a request to join, and then nothing more. */
async function stall({ port }: TestServer): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  const head = `POST /api/pairing/join HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: 250000\r\n\r\n`;
  await new Promise<void>((resolve) => socket.write(`${head}${PART}`, () => resolve()));
}

test('[HT56] bodies without a credential that do not end keep no caller with one waiting', async () => {
  // Time stands still: none of them is cut off for being slow.
  const server = await startTestServer({ deps: { clock: createManualClock() } });
  await Promise.all(Array.from({ length: 60 }, () => stall(server)));
  let status = 0;
  const body = { run_id: 'run_a', args: { text: PART } };
  void server.post('/v1/tools/echo/invoke', body).then((answer) => {
    status = answer.status;
  });
  await expect.poll(() => status).toBe(202);
});
