import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { toFrame, upgradeHead } from '../../contract/kit/raw-socket.ts';
import { inRig, mustSucceed, type Rig, until } from '../net/rig.ts';
import type { Random } from '../random.ts';
import type { Scenario, Violation } from '../scenario.ts';

const LANES = 32;
const HANGS_MS = 5_000;

/** Frames and handshakes that nobody should send. The server ends such connections, and nothing else. */
export const fuzzFrames: Scenario = {
  id: 'F27',
  name: 'malformed frames and handshakes',
  run: (context) =>
    inRig(context, async (rig) => {
      const count = context.rounds({ full: 200_000, short: 10_000 });
      const violations: Violation[] = [];
      const seen = {
        frames: 0,
        connections: 0,
        handshakes: 0,
        refused: 0,
        closed: 0,
        reset: 0,
        lived: 0,
      };
      const real: string[] = [];
      const honest = rig.client({ name: 'honest' });
      await honest.start();
      await until(() => honest.welcomes.length > 0, 10_000);
      const lane = async (index: number) => {
        const random = context.random.fork(`${index}`);
        while (seen.frames + seen.handshakes < count) {
          const hung = await attack(rig, random, seen);
          if (hung) violations.push({ invariant: 'HEALTH', detail: hung });
          if (index === 0 && random.chance(0.1))
            real.push(
              await rig.invoke('effect_honest', {}, { wait_ms: 10_000, timeout_ms: 10_000 }),
            );
        }
      };
      await Promise.all(Array.from({ length: LANES }, (_, index) => lane(index)));
      const rest = await rig.rest();
      const left = await settledSockets(rig);
      if (left > 2)
        violations.push({
          invariant: 'I13',
          detail: `${left} sockets are open after all were ended; 2 are right`,
        });
      return {
        figures: { ...rest.figures, ...seen, real_calls: real.length, sockets_left: left },
        violations: [
          ...violations,
          ...rest.violations,
          ...mustSucceed(rest, real, 'a real call beside the fuzzing'),
        ],
        summary: `${seen.frames} malformed frames and ${seen.handshakes} malformed handshakes over ${seen.connections} connections: 0 crashes, 0 uncaught, ${violations.length} hung; ${real.length} real calls beside them succeeded`,
      };
    }),
};

/** The honest client's and the watcher's, once the others are gone. */
async function settledSockets({ board }: Rig): Promise<number> {
  let open = Number.POSITIVE_INFINITY;
  await until(
    async () => {
      const answer = await board.http('GET', '/metrics');
      open = Number(/^callboard_sockets (\d+)$/m.exec(String(answer.body))?.[1]);
      return open <= 2;
    },
    5_000,
    100,
  );
  return open;
}

type Seen = {
  frames: number;
  connections: number;
  handshakes: number;
  refused: number;
  closed: number;
  reset: number;
  lived: number;
};

/** One connection; gives what was wrong, if it hung. */
async function attack({ board }: Rig, random: Random, seen: Seen): Promise<string | undefined> {
  const path = random.pick(['/ws/client', '/ws/watch']);
  const head = upgradeHead(board, path, [`Authorization: Bearer ${board.token}`]);
  const socket = connect({
    port: Number(new URL(board.url).port),
    host: '127.0.0.1',
    noDelay: true,
    // One address has 28,000 ports, and each rests for a while after its connection.
    ...(process.platform === 'linux' ? { localAddress: `127.0.0.${random.between(2, 250)}` } : {}),
  });
  socket.on('error', () => {});
  if (!(await isConnected(socket))) {
    await sleep(20);
    return undefined;
  }
  seen.connections += 1;
  const came: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => came.push(chunk));
  let hung: string | undefined;
  const isBadHead = random.chance(0.2);
  if (isBadHead) {
    seen.handshakes += 1;
    const bytes = badHead(head, random);
    socket.write(bytes);
    // What is not finished may be waited for; that wait has its own end, longer than this.
    const isWhole = bytes.includes('\r\n\r\n');
    const isOver = () => came.length > 0 || socket.destroyed || socket.readableEnded;
    const isAnswered = await until(isOver, isWhole ? HANGS_MS : 20, 1);
    if (isAnswered) seen.refused += 1;
    if (isWhole && !isAnswered)
      hung = `a handshake got no answer in ${HANGS_MS} ms: ${bytes.slice(0, 300)}`;
    socket.resetAndDestroy();
    return hung;
  }
  socket.write(head);
  await Promise.race([until(() => came.length > 0, HANGS_MS, 1), endOf(socket, HANGS_MS)]);
  const frames = Array.from({ length: random.between(1, 8) }, () => badFrame(random));
  seen.frames += frames.length;
  socket.write(Buffer.concat(frames));
  // A last one that is wrong beyond doubt: after it nothing may be left open.
  socket.write(toFrame({ opcode: 0xb, rsv: 7, masked: false }));
  const wasWaiting = frames.some((frame) => isUnfinished(frame));
  const ended = await endOf(socket, wasWaiting ? 50 : HANGS_MS);
  if (ended) seen.closed += 1;
  else seen.lived += 1;
  socket.resetAndDestroy();
  if (ended || wasWaiting) return undefined;
  return `a connection to ${path} hung for ${HANGS_MS} ms after ${Buffer.concat(frames).toString('hex').slice(0, 200)}`;
}

/** It claims more than it brings, so the server rightly waits for the rest. */
const isUnfinished = (frame: Buffer): boolean => {
  const length = (frame[1] ?? 0) & 0x7f;
  return length >= 126 || frame.length < 6 + length;
};

const isConnected = (socket: Socket): Promise<boolean> =>
  new Promise((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('close', () => resolve(false));
  });

function endOf(socket: Socket, ms: number): Promise<boolean> {
  if (socket.destroyed || socket.readableEnded) return Promise.resolve(true);
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    const done = () => {
      clearTimeout(timer);
      resolve(true);
    };
    socket.once('end', done);
    socket.once('close', done);
  });
}

function badFrame(random: Random): Buffer {
  const payload = random.chance(0.5)
    ? random.bytes(random.between(0, 200))
    : Buffer.from(
        random.pick(['{', '{}', '[', '{"type":"probe","nonce":"n"}', '\ud800', 'null', '"']),
      );
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

function badHead(head: string, random: Random): string {
  const lines = head.split('\r\n');
  const at = random.between(1, Math.max(1, lines.length - 3));
  switch (random.between(0, 8)) {
    case 0:
      return head.replace(
        'GET /',
        random.pick(['GET //', 'GET ', 'POST /', 'GET http://x/', 'GET /%', 'GET /../']),
      );
    case 1:
      return head.replace('Version: 13', `Version: ${random.pick(['0', '', '99', 'x'])}`);
    case 2:
      return head.replace(/Key: .*/, `Key: ${random.pick(['', 'short', 'x'.repeat(500)])}`);
    case 3:
      return lines.filter((_, index) => index !== at).join('\r\n');
    case 4:
      return head.replace(
        '\r\n\r\n',
        `\r\nSec-WebSocket-Protocol: ${'a, '.repeat(random.between(1, 900))}\r\n\r\n`,
      );
    case 5:
      return head.replace(
        '\r\n\r\n',
        `\r\nSec-WebSocket-Extensions: permessage-deflate; x=${'"'.repeat(random.between(1, 9))}\r\n\r\n`,
      );
    case 6:
      return head.replace(
        /Host: .*/,
        `Host: ${random.pick(['evil.example', '', '127.0.0.1', 'x'.repeat(3_000)])}`,
      );
    case 7:
      return head.slice(0, random.between(1, head.length - 1));
    default:
      return `${randomBytes(20).toString('latin1')}\r\n\r\n`;
  }
}
