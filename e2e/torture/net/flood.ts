import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { CLOSE } from '#lib/protocol/server-messages';
import type { Callboard } from '../../start-callboard.ts';
import type { Violation } from '../scenario.ts';

/** Far more than a connection may send at once, and in the time that the server takes to read them. */
const MESSAGES = { '/ws/client': 20_000, '/ws/watch': 1_000 } as const;
const ENDS_MS = 30_000;

/** Sends small messages, each of them right, as fast as it can: the server has to hang up. */
export async function flood(
  board: Callboard,
  path: '/ws/client' | '/ws/watch',
): Promise<Violation[]> {
  const ws = new WebSocket(board.url.replace('http', 'ws') + path, {
    headers: { authorization: `Bearer ${board.token}` },
  });
  ws.on('error', () => {});
  const closed = new Promise<number>((resolve) => ws.on('close', resolve));
  await Promise.race([new Promise((resolve) => ws.once('open', resolve)), closed]);
  for (let sent = 0; sent < MESSAGES[path]; sent += 1) ws.send('{"type":"probe","nonce":"n"}');
  const code = await Promise.race([closed, sleep(ENDS_MS, 'open', { ref: false })]);
  ws.terminate();
  // When it was still sending as the server hung up, the reason is lost on the way.
  if (code === CLOSE.policy || code === 1006) return [];
  const detail = `${MESSAGES[path]} messages at once over ${path}: ${code} after ${ENDS_MS} ms; ${CLOSE.policy} is right`;
  return [{ invariant: 'HEALTH', detail }];
}
