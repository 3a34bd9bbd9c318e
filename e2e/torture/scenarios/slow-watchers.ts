import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Card } from '#lib/protocol/card';
import { mergeCard } from '#lib/tool-call/merge-card';
import { toFrame, upgradeHead } from '../../contract/kit/raw-socket.ts';
import { connectClient } from '../../contract/kit/tool-client.ts';
import type { Callboard } from '../../start-callboard.ts';
import { memoryOf } from '../net/memory-of.ts';
import { inRig, percentile, type Rig, until } from '../net/rig.ts';
import type { Scenario, Violation } from '../scenario.ts';

const EVERY_MS = 5;
const CALLS = 20;
/** Calls that are told of once. */
const ONCE = 10;
/** The few seconds of the short run are mostly what the collector has not looked at yet. */
const MEMORY_MIB = { full: 64, short: 128 };
/** Some more than the log of events holds. */
const LOG_BYTES = 40 * 1024 * 1024;
/** Large ones fill it in a second. */
const FILLING_BYTES = 60_000;
/** What the system's buffers take, 10 s of patience, and a second to end it. */
const CUT_MS = 40_000;
const TOO_SLOW = 4013;
const LONG_RUN_MS = 60_000;

/** Half of the watchers do not read, or stop for a while: the others do not notice. */
export const slowWatchers: Scenario = {
  id: 'F21',
  name: 'watchers that read late, and that never read',
  run: (context) =>
    inRig(context, async (rig) => {
      const counts = context.isShort
        ? { fast: 5, late: 3, never: 5, bytes: 16_000 }
        : { fast: 50, late: 10, never: 40, bytes: 4_000 };
      const { board } = rig;
      const violations: Violation[] = [];
      const news = await openNews(rig, counts.bytes);
      await news.fillLog();
      const fast = await Promise.all(Array.from({ length: counts.fast }, () => openReader(board)));
      news.start();
      const startedAt = performance.now();
      let before = 0;
      for (let look = 0; look < 10; look += 1) {
        await sleep(200);
        before = Math.max(before, memoryOf(board.pid));
      }
      const never = Array.from({ length: counts.never - 1 }, () => openNonReader(board));
      // The last of them reads what is there once it is given up: the reason is among it.
      const sleeper = await openReader(board);
      sleeper.ws.pause();
      const late = await Promise.all(Array.from({ length: counts.late }, () => openReader(board)));
      const all = counts.fast + counts.late + 1;
      let peak = before;
      let isOver = false;
      const memory = (async () => {
        while (!isOver) {
          peak = Math.max(peak, memoryOf(board.pid));
          await sleep(200);
        }
      })();
      await until(async () => (await watchersOf(board)) >= all + counts.never, 5_000, 50);
      const stopAt = performance.now();
      for (const { ws } of late) ws.pause();
      const pauses = (async () => {
        // Some calls are told of once, in the middle of it; nothing later makes up for that.
        for (let second = 0; second < (context.isShort ? 5 : 9); second += 1) {
          await sleep(1_000);
          news.tellOnce();
        }
        for (const { ws } of late) ws.resume();
      })();
      const areCut = await until(async () => (await watchersOf(board)) <= all, CUT_MS, 50);
      sleeper.ws.resume();
      const cutMs = Math.round(performance.now() - stopAt);
      await pauses;
      if (!areCut)
        violations.push({
          invariant: 'I13',
          detail: `after ${CUT_MS} ms ${await watchersOf(board)} watchers are served; ${all} read`,
        });
      if (!(await until(() => sleeper.isClosed, 5_000)))
        violations.push({ invariant: 'I13', detail: 'a watcher was given up and is connected' });
      // When it was not woken within the second that it has left, nobody could tell it anything.
      if (![TOO_SLOW, 1006].includes(sleeper.closeCode))
        violations.push({
          invariant: 'I9',
          detail: `a watcher that did not read was closed with ${sleeper.closeCode}; ${TOO_SLOW} is right`,
        });
      if (!context.isShort) await sleep(LONG_RUN_MS - (performance.now() - startedAt));
      await news.stop();
      isOver = true;
      await memory;
      const [truth] = fast;
      await until(() => fast.every((one) => one.seq === truth?.seq), 5_000);
      for (const one of fast) {
        if (one.gaps.length > 0)
          violations.push({
            invariant: 'I9',
            detail: `a watcher that reads saw gaps: ${one.gaps.slice(0, 3).join('; ')}`,
          });
        if (one.isClosed)
          violations.push({ invariant: 'I9', detail: 'a watcher that reads was cut off' });
      }
      const isSame = () =>
        late.every((one) => news.ids.every((id) => same(one.cards.get(id), truth?.cards.get(id))));
      await until(isSame, 5_000);
      for (const [index, one] of late.entries()) {
        if (one.lost.length > 0)
          violations.push({
            invariant: 'I9',
            detail: `late watcher ${index} saw gaps that are no merging: ${one.lost.slice(0, 3).join('; ')}`,
          });
        const wrong = news.ids.filter((id) => !same(one.cards.get(id), truth?.cards.get(id)));
        if (wrong.length > 0)
          violations.push({
            invariant: 'I9',
            detail: `late watcher ${index} (closed: ${one.isClosed}) has ${wrong.length} cards that are not what they should be, e.g. ${JSON.stringify(one.cards.get(wrong[0] ?? '')?.progress)} instead of ${JSON.stringify(truth?.cards.get(wrong[0] ?? '')?.progress)}`,
          });
      }
      const grown = peak - before;
      const bound = context.isShort ? MEMORY_MIB.short : MEMORY_MIB.full;
      if (grown > bound)
        violations.push({
          invariant: 'I13',
          detail: `memory grew by ${grown} MiB with ${counts.never} watchers that never read; at most ${bound}`,
        });
      const delays = fast.flatMap(({ delays: own }) => own);
      const p99 = Math.round(percentile(delays, 0.99));
      const merged = late.reduce((sum, one) => sum + one.gaps.length, 0);
      for (const { ws } of [...fast, ...late]) ws.terminate();
      for (const socket of never) socket.destroy();
      const rest = await rig.rest();
      return {
        figures: {
          ...rest.figures,
          events: news.told(),
          fast: counts.fast,
          late: counts.late,
          never: counts.never,
          p99_ms: p99,
          cut_ms: cutMs,
          told_why: sleeper.closeCode === TOO_SLOW ? 1 : 0,
          grown_mib: grown,
          merged,
        },
        // The news of this scenario come from a raw client, whose answers name nobody.
        violations: [
          ...violations,
          ...rest.violations.filter(({ invariant }) => invariant !== 'I11'),
        ],
        summary: `${news.told()} events, ${counts.fast} watchers that read, ${counts.late} that stopped for a while, ${counts.never} that never read: no gap, p99 ${p99} ms, late ones right again, the others cut off after ${cutMs} ms, memory +${grown} MiB`,
      };
    }),
};

const same = (one: Card | undefined, other: Card | undefined): boolean =>
  one !== undefined &&
  one.status === other?.status &&
  one.progress?.done === other?.progress?.done &&
  one.tip === other?.tip;

const watchersOf = async (board: Callboard): Promise<number> => {
  const { body } = await board.http('GET', '/metrics');
  return Number(/^callboard_watchers (\d+)$/m.exec(String(body))?.[1]);
};

/** Calls that tell of themselves all the time. */
async function openNews(rig: Rig, bytes: number) {
  const client = await connectClient(rig.board, { hello: { name: 'news' }, tools: ['news'] });
  const ids: string[] = [];
  for (let n = 0; n < CALLS + ONCE; n += 1) {
    await rig.invoke('news', {}, { timeout_ms: 300_000 });
    ids.push((await client.request()).id);
  }
  const filling = 'x'.repeat(bytes);
  const large = 'x'.repeat(FILLING_BYTES);
  let told = 0;
  let once = CALLS;
  let timer: NodeJS.Timeout | undefined;
  const tell = (preview: string) => {
    const id = ids[told % CALLS];
    told += 1;
    client.send({
      type: 'tool_status',
      id,
      tip: String(performance.now()),
      progress: { done: told },
      preview,
    });
  };
  return {
    ids,
    told: () => told,
    /** The server keeps the newest events; what these take is no growth. */
    async fillLog() {
      while (told * FILLING_BYTES < LOG_BYTES) {
        tell(large);
        if (told % 10 === 0) await sleep(12);
      }
    },
    tellOnce() {
      client.send({ type: 'tool_status', id: ids[once], progress: { done: once } });
      once += 1;
    },
    start() {
      timer = setInterval(() => tell(filling), EVERY_MS);
    },
    async stop() {
      clearInterval(timer);
      await sleep(300);
      for (const id of ids) client.succeed(id, 'told');
      await until(async () => (await rig.api.open()).length === 0, 10_000);
      await client.close();
    },
  };
}

interface Reader {
  readonly ws: WebSocket;
  readonly cards: ReadonlyMap<string, Card>;
  readonly seq: number;
  readonly gaps: readonly string[];
  /** Those of its gaps that no merging explains. */
  readonly lost: readonly string[];
  readonly delays: readonly number[];
  readonly isClosed: boolean;
  /** 0 before. */
  readonly closeCode: number;
}

async function openReader(board: Callboard): Promise<Reader> {
  const ws = new WebSocket(`${board.url.replace('http', 'ws')}/ws/watch`, {
    headers: { authorization: `Bearer ${board.token}` },
    maxPayload: 2 ** 28,
  });
  const cards = new Map<string, Card>();
  const gaps: string[] = [];
  const lost: string[] = [];
  const delays: number[] = [];
  let seq = -1;
  let isClosed = false;
  let closeCode = 0;
  ws.on('error', () => {});
  ws.on('close', (code) => {
    isClosed = true;
    closeCode = code;
  });
  ws.on('open', () => ws.send('{"type":"watch"}'));
  const take = (
    isAlone: boolean,
    event: { type: string; seq: number; tool_call_id: string; update: Card },
  ) => {
    if (event.seq !== seq + 1) {
      gaps.push(`${event.seq} after ${seq}`);
      // Merged events are told together; one alone skips nothing.
      if (isAlone) lost.push(`${event.seq} after ${seq}`);
    }
    seq = event.seq;
    if (event.type !== 'call') return;
    cards.set(event.tool_call_id, mergeCard(cards.get(event.tool_call_id), event.update));
    const sentAt = Number(event.update.tip);
    if (sentAt > 0) delays.push(performance.now() - sentAt);
  };
  ws.on('message', (data) => {
    const message = JSON.parse(String(data));
    if (message.type === 'snapshot') {
      seq = message.seq;
      for (const { tool_call_id: id, card } of message.calls) cards.set(id, card);
    } else if (message.type === 'batch') for (const event of message.events) take(false, event);
    else take(true, message);
  });
  if (!(await until(() => seq >= 0, 10_000))) throw new Error('a watcher got no snapshot');
  return {
    ws,
    cards,
    gaps,
    lost,
    delays,
    get seq() {
      return seq;
    },
    get isClosed() {
      return isClosed;
    },
    get closeCode() {
      return closeCode;
    },
  };
}

/** Asks, and never reads an answer. */
function openNonReader(board: Callboard): Socket {
  const socket = connect({ port: Number(new URL(board.url).port), host: '127.0.0.1' });
  socket.on('error', () => {});
  socket.pause();
  socket.write(upgradeHead(board, '/ws/watch', [`Authorization: Bearer ${board.token}`]));
  socket.write(toFrame({ opcode: 1, payload: Buffer.from('{"type":"watch"}') }));
  return socket;
}
