import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '#lib/protocol/limits';
import { openRawSocket, upgradeHead } from '../../contract/kit/raw-socket.ts';
import type { Callboard } from '../../start-callboard.ts';
import { badHandshake } from '../net/bad-handshake.ts';
import { judgeFrames } from '../net/judge-frames.ts';
import { badFrame, oddFrames, worstFrame } from '../net/odd-frames.ts';
import { makeRealCalls } from '../net/real-calls.ts';
import { inRig, metric, type Rig } from '../net/rig.ts';
import { createStallMeter } from '../net/stall-meter.ts';
import type { Random } from '../random.ts';
import type { Played, Scenario } from '../scenario.ts';
import { mustSucceed } from '../world/check-invariants.ts';
import { until } from '../world/until.ts';

const LANES = 32;
/** So much is wrong that more would show nothing. */
const ENOUGH = 5;
const HANGS_MS = 30_000;
const PATHS = ['/ws/client', '/ws/watch'] as const;
/** RFC 6455, 7.4.1. */
const TOO_LONG = 1009;

/** Frames and handshakes that nobody should send. The server ends such connections, and nothing else. */
export const fuzzFrames: Scenario = {
  id: 'F27',
  name: 'odd and malformed frames and handshakes',
  async run(context) {
    const meter = createStallMeter(await context.tempDir());
    const play = async (rig: Rig): Promise<Played> => {
      const count = context.rounds({ full: 200_000, short: 10_000 });
      const { violations, bad } = context;
      await sendTooLong(rig);
      const seen = { frames: 0, connections: 0, handshakes: 0, ended: 0, let_go: 0 };
      const real = await makeRealCalls(rig, 50);
      await meter.start(rig.board);
      const lane = async (index: number) => {
        const random = context.random.fork(`${index}`);
        while (seen.frames < count && violations.length < ENOUGH) {
          const hung = await attack(rig, random, seen);
          if (hung) bad('HEALTH', hung);
        }
      };
      await Promise.all(Array.from({ length: LANES }, (_, index) => lane(index)));
      await real.stop();
      const hung = violations.length;
      const stalls = await meter.stop(bad);
      const rest = await rig.rest();
      mustSucceed(bad, rest.records, 'it was a real call beside the fuzzing', real.ids);
      // The honest client's and the watcher's are left, once the others are gone.
      const open = () => metric(rig, 'sockets');
      await until(async () => (await open()) <= 2, HANGS_MS, 100);
      const left = await open();
      if (left > 2) bad('I13', `${left} sockets are open after all were ended; 2 are right`);
      const counts = { ...seen, real_calls: real.ids.length, sockets_left: left };
      return {
        figures: { ...rest.figures, ...counts, ...stalls.figures },
        summary: `${seen.frames} odd and malformed frames read and ${seen.handshakes} malformed handshakes over ${seen.connections} connections: 0 crashes, 0 uncaught, ${hung} hung; ${real.ids.length} real calls beside them succeeded; ${stalls.summary}`,
      };
    };
    return inRig(context, play, { env: meter.env });
  },
};

/** A frame over the limit ends its connection by its head alone, and for that reason: so no other limit does it. */
async function sendTooLong({ board, bad }: Rig): Promise<void> {
  for (const path of PATHS) {
    const socket = await openRawSocket(board, path);
    socket.write({ opcode: 1, claimedLength: BigInt(LIMITS.frameBytes) + 1n });
    const { code } = await socket.ending();
    if (code === TOO_LONG) continue;
    const detail = `${path}: a frame of ${LIMITS.frameBytes + 1} bytes was begun, and the connection ended with ${code}`;
    bad('HEALTH', detail);
  }
}

type Seen = {
  /** The server reads them up to the one that ends the connection. */
  frames: number;
  connections: number;
  handshakes: number;
  /** Connections that the server ended by itself, */
  ended: number;
  /** and those that it ended once their other end had, as it rightly waited for more. */
  let_go: number;
};

interface Line {
  readonly socket: Socket;
  came(): string;
  isOver(): boolean;
}

/** One connection; gives what was wrong, if it hung. */
async function attack({ board }: Rig, random: Random, seen: Seen): Promise<string | undefined> {
  const line = await openLine(board, random);
  seen.connections += 1;
  const head = upgradeHead(board, random.pick(PATHS), [`Authorization: Bearer ${board.token}`]);
  try {
    return await (random.chance(0.2)
      ? badHead(line, badHandshake(head, random), seen)
      : badFrames(line, head, random, seen));
  } finally {
    // After a FIN a reset is refused, and the handle would stay.
    if (line.socket.writableEnded) line.socket.destroy();
    else line.socket.resetAndDestroy();
  }
}

async function badHead(line: Line, text: string, seen: Seen): Promise<string | undefined> {
  seen.handshakes += 1;
  line.socket.write(Buffer.from(text, 'latin1'));
  const isAnswered = () => line.came() !== '' || line.isOver();
  if (text.includes('\r\n\r\n')) {
    if (await comes(line, isAnswered)) return undefined;
    return `a handshake got no answer in ${HANGS_MS} ms: ${text.slice(0, 300)}`;
  }
  // The server waits 10 s for what is not finished; there is nothing to wait for after its end.
  return letGo(line, text, seen);
}

async function badFrames(
  line: Line,
  head: string,
  random: Random,
  seen: Seen,
): Promise<string | undefined> {
  const bytes = Buffer.concat([
    ...Array.from({ length: random.between(0, 9) }, () => oddFrames(random)).flat(),
    ...Array.from({ length: random.between(1, 4) }, () => badFrame(random)),
    worstFrame,
  ]);
  // The frames come with the handshake in one piece, or after its answer.
  if (random.chance(0.3)) line.socket.write(Buffer.concat([Buffer.from(head), bytes]));
  else {
    line.socket.write(head);
    await comes(line, () => line.came().includes('\r\n\r\n') || line.isOver());
    if (!line.came().startsWith('HTTP/1.1 101 '))
      return `a handshake that is right was answered by "${line.came().slice(0, 100)}"`;
    const cut = random.chance(0.3) ? random.between(1, bytes.length) : bytes.length;
    line.socket.write(bytes.subarray(0, cut));
    if (cut < bytes.length) {
      await nextTurn();
      line.socket.write(bytes.subarray(cut));
    }
  }
  const { frames, verdict } = judgeFrames(bytes);
  seen.frames += frames;
  if (verdict !== 'ends') return letGo(line, bytes.toString('hex'), seen);
  if (!(await comes(line, line.isOver)))
    return `a connection to ${head.split(' ')[1]} hung for ${HANGS_MS} ms after ${bytes.toString('hex').slice(0, 4_000)}`;
  seen.ended += 1;
  return undefined;
}

/** The other end says that it is done, in the middle of something. */
async function letGo(line: Line, sent: string, seen: Seen): Promise<string | undefined> {
  line.socket.end();
  seen.let_go += 1;
  if (await comes(line, line.isOver)) return undefined;
  return `a connection was open ${HANGS_MS} ms after its other end had ended it, after ${sent.slice(0, 4_000)}`;
}

async function openLine(board: Callboard, random: Random): Promise<Line> {
  for (;;) {
    const socket = connect({
      port: Number(new URL(board.url).port),
      host: '127.0.0.1',
      noDelay: true,
      // One address has 28,000 ports, and each rests for a while after its connection.
      ...(process.platform === 'linux'
        ? { localAddress: `127.0.0.${random.between(2, 250)}` }
        : {}),
    });
    let came = '';
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      came += chunk.toString('latin1');
    });
    if (await isConnected(socket)) {
      const isOver = () => socket.destroyed || socket.readableEnded;
      return { socket, came: () => came, isOver };
    }
    // It throws when the server is no more.
    await board.http('GET', '/healthz');
    await sleep(20);
  }
}

const isConnected = (socket: Socket): Promise<boolean> =>
  new Promise((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('close', () => resolve(false));
  });

/** Looks at whatever comes; false when it is not so in time. */
function comes({ socket }: Line, isSo: () => boolean): Promise<boolean> {
  if (isSo()) return Promise.resolve(true);
  return new Promise((resolve) => {
    const look = () => {
      if (isSo()) done(true);
    };
    const done = (is: boolean) => {
      clearTimeout(timer);
      for (const event of EVENTS) socket.off(event, look);
      resolve(is);
    };
    const timer = setTimeout(() => done(isSo()), HANGS_MS);
    for (const event of EVENTS) socket.on(event, look);
  });
}

const EVENTS = ['data', 'end', 'close'] as const;
