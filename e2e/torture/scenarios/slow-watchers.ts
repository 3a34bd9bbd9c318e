import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { mergeCard } from '#lib/call/merge-card';
import type { Card } from '#lib/protocol/card';
import { toFrame, upgradeHead } from '../../contract/kit/raw-socket.ts';
import { connectClient } from '../../contract/kit/tool-client.ts';
import type { Callboard } from '../../start-callboard.ts';
import { createMemoryMeter } from '../net/memory-meter.ts';
import { inRig, percentile, type Rig, until } from '../net/rig.ts';
import type { Outcome, Scenario, Violation } from '../scenario.ts';
import { restingHeart } from './hurried-heartbeat.ts';

const EVERY_MS = 5;
/** Told one by one, each alone in its frame. */
const ALONE = 120;
/**
 * More than lies in a socket's buffers before its watcher counts as slow. One call shows three at
 * once and then four a second (rule CE9), so many calls show it.
 */
const SLOW_BYTES = 24 * 1024 * 1024;
const SLOW_CALLS = 200;
const LATE_TRIES = 5;
const ONCE_EACH = 2;
/** Where what should come is said to have not come. */
const ALONE_MS = 2_000;
const RIGHT_MS = 20_000;
/** Events are waited for that long, on any machine. Nothing is decided by it. */
const PATIENCE_MS = 60_000;
const CALLS = 20;
/** Calls that are told of once. */
const ONCE = 10;
/**
 * Of what is in use, and of what the process holds for it: both without garbage, which V8 lets lie
 * up to hundreds of MiB.
 */
const MEMORY_MIB = { live: 24, held: 64 };
/** Some more than the log of events holds. */
const LOG_BYTES = 6 * 1024 * 1024;
/** Large ones fill it in seconds; of a preview over 16 KiB watchers would get the beginning alone. */
const FILLING_BYTES = 15_000;
/** The time that the system's buffers take, 10 s of patience, and a second to end it. */
const CUT_MS = 60_000;
const TOO_SLOW = 4013;
/** One that is not woken within the second that it has left reads no reason. */
const GIVEN_UP = [TOO_SLOW, 1006];
const LONG_RUN_MS = 60_000;
/** News may take so long where all watchers read. */
const NEWS_ALONE_MS = 2_000;

/** Half of the watchers do not read, or stop for a while: the others do not notice. */
export const slowWatchers: Scenario = {
  id: 'F21',
  name: 'watchers that read late, and that never read',
  // A socket that answers no ping is ended, too; here only the hub is to end it.
  patches: restingHeart,
  async run(context) {
    const meter = createMemoryMeter(await context.tempDir());
    const play = async (rig: Rig): Promise<Outcome> => {
      const counts = context.isShort
        ? { fast: 5, late: 3, never: 5, bytes: 16_000 }
        : { fast: 50, late: 10, never: 40, bytes: 4_000 };
      const { board } = rig;
      const violations: Violation[] = [];
      const news = await openNews(rig, counts.bytes);
      // The log has its limit from the first event on, so it is filled under the meter's eyes.
      const memory = await meter.follow(board.pid);
      await news.fillLog();
      const fast = await Promise.all(Array.from({ length: counts.fast }, () => openReader(board)));
      const [truth] = fast;
      if (!truth) throw new Error('nobody reads');
      await oneByOne(news, truth);
      const late = await comeLate(rig, news, truth, counts.late);
      violations.push(...late.violations);
      news.start();
      const startedAt = performance.now();
      await sleep(NEWS_ALONE_MS);
      const never = Array.from({ length: counts.never - 1 }, () => openNonReader(board));
      // The last of them reads what is there once it is given up: the reason is among it.
      const sleeper = await openReader(board);
      sleeper.ws.pause();
      const all = counts.fast + 1;
      await until(async () => (await watchersOf(board)) >= all + counts.never, PATIENCE_MS, 50);
      const stopAt = performance.now();
      const areCut = await until(async () => (await watchersOf(board)) <= all, CUT_MS, 50);
      sleeper.ws.resume();
      const cutMs = Math.round(performance.now() - stopAt);
      if (!areCut)
        violations.push({
          invariant: 'I13',
          detail: `after ${CUT_MS} ms ${await watchersOf(board)} watchers are served; ${all} read`,
        });
      if (!(await until(() => sleeper.isClosed, PATIENCE_MS)))
        violations.push({ invariant: 'I13', detail: 'a watcher was given up and is connected' });
      if (!GIVEN_UP.includes(sleeper.closeCode))
        violations.push({
          invariant: 'I9',
          detail: `a watcher that did not read was closed with ${sleeper.closeCode}; ${TOO_SLOW} is right`,
        });
      if (!context.isShort) await sleep(LONG_RUN_MS - (performance.now() - startedAt));
      await news.stop();
      const grown = await memory.stop();
      await until(() => fast.every((one) => one.seq === truth.seq), PATIENCE_MS);
      for (const one of fast) {
        if (one.lost.length > 0)
          violations.push({
            invariant: 'I9',
            detail: `a watcher that reads saw gaps: ${one.lost.slice(0, 3).join('; ')}`,
          });
        if (one.isClosed)
          violations.push({ invariant: 'I9', detail: 'a watcher that reads was cut off' });
      }
      if (grown.live > MEMORY_MIB.live || grown.held > MEMORY_MIB.held)
        violations.push({
          invariant: 'I13',
          detail: `memory grew by ${grown.live} MiB in use and ${grown.held} MiB held with ${counts.never} watchers that never read; at most ${MEMORY_MIB.live} and ${MEMORY_MIB.held}`,
        });
      const delays = fast.flatMap(({ delays: own }) => own);
      const p99 = Math.round(percentile(delays, 0.99));
      for (const { ws } of fast) ws.terminate();
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
          grown_mib: grown.live,
          held_mib: grown.held,
          merged: late.merged,
        },
        // The news of this scenario come from a raw client, whose answers name nobody.
        violations: [
          ...violations,
          ...rest.violations.filter(({ invariant }) => invariant !== 'I11'),
        ],
        summary: `${news.told()} events, ${counts.fast} watchers that read, ${counts.late} that stopped for a while, ${counts.never} that never read: no gap, p99 ${p99} ms, late ones right again, the others cut off after ${cutMs} ms, memory +${grown.live} MiB in use, +${grown.held} MiB held`,
      };
    };
    return inRig(context, play, { env: meter.env });
  },
};

type News = Awaited<ReturnType<typeof openNews>>;

/** Nothing can be merged with what comes when all before it was read: a gap here is a gap. */
async function oneByOne(news: News, reader: Reader): Promise<void> {
  for (let left = ALONE; left > 0; left -= 1) {
    const { seq } = reader;
    news.tell('');
    // An event that does not come shows as a gap before the next.
    await until(() => reader.seq > seq, ALONE_MS, 1);
  }
}

/** They stop reading until what waits for them is merged, and read on before they are given up. */
async function comeLate(
  rig: Rig,
  news: News,
  truth: Reader,
  count: number,
): Promise<{ violations: Violation[]; merged: number }> {
  for (let left = LATE_TRIES; left > 0; left -= 1) {
    const late = await Promise.all(Array.from({ length: count }, () => openReader(rig.board)));
    for (const { ws } of late) ws.pause();
    await news.tellBytes(SLOW_BYTES, truth);
    // Once, while they are slow; nothing later makes up for it.
    for (let times = ONCE_EACH; times > 0; times -= 1) news.tellOnce();
    for (const { ws } of late) ws.resume();
    await news.settled();
    const isRight = (one: Reader) =>
      news.ids.every((id) => same(one.cards.get(id), truth.cards.get(id)));
    await until(() => late.every((one) => one.isClosed || isRight(one)), RIGHT_MS, 50);
    // On a machine under load they may have been given up before all of it was told, or read the reason.
    const isGivenUp = late.some((one) => one.isClosed && GIVEN_UP.includes(one.closeCode));
    for (const { ws } of late) ws.terminate();
    if (isGivenUp) continue;
    const violations = late.flatMap((one) => wrongs(one, news.ids, truth));
    const merged = late.reduce((sum, one) => sum + one.gaps.length, 0);
    // All of it lay in the sockets' buffers, or is not merged: nothing is shown by that.
    if (merged === 0 && violations.length === 0)
      violations.push({ invariant: 'I9', detail: 'a late watcher had nothing merged' });
    return { violations, merged };
  }
  throw new Error(`${count} watchers that stopped reading were given up before they could go on`);
}

function wrongs(one: Reader, ids: readonly string[], truth: Reader): Violation[] {
  const wrong = ids.filter((id) => !same(one.cards.get(id), truth.cards.get(id)));
  const shown = (of: Reader) => JSON.stringify(of.cards.get(wrong[0] ?? '')?.progress);
  const details = [
    ...(one.lost.length > 0
      ? [`saw gaps that are no merging: ${one.lost.slice(0, 3).join('; ')}`]
      : []),
    ...(wrong.length > 0
      ? [
          `has ${wrong.length} cards that are not right, e.g. ${shown(one)} instead of ${shown(truth)}`,
        ]
      : []),
  ];
  return details.map((detail) => ({ invariant: 'I9', detail: `a late watcher ${detail}` }));
}

const same = (one: Card | undefined, other: Card | undefined): boolean =>
  one !== undefined &&
  one.status === other?.status &&
  one.progress?.done === other?.progress?.done &&
  one.tip === other?.tip;

const watchersOf = async (board: Callboard): Promise<number> => {
  const { body } = await board.http('GET', '/metrics');
  return Number(/^callboard_watchers (\d+)$/m.exec(String(body))?.[1]);
};

/** Calls that tell of themselves all the time, some that do so once, and many that do so together. */
async function openNews(rig: Rig, bytes: number) {
  const client = await connectClient(rig.board, {
    hello: { name: 'news' },
    tools: ['news'],
    patienceMs: PATIENCE_MS,
  });
  const ids: string[] = [];
  for (let n = 0; n < CALLS + ONCE + SLOW_CALLS; n += 1) {
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
    tell,
    /** Resolves once the server has taken all that was told. */
    settled: () => client.settled(),
    /** Each time is an event of its own once the one who reads has seen it. */
    async tellBytes(bytes: number, reader: Reader) {
      const many = ids.slice(CALLS + ONCE);
      for (let left = bytes; left > 0; left -= many.length * FILLING_BYTES) {
        told += 1;
        for (const id of many)
          client.send({ type: 'tool_status', id, progress: { done: told }, preview: large });
        const areSeen = () => many.every((id) => reader.cards.get(id)?.progress?.done === told);
        if (!(await until(areSeen, PATIENCE_MS, 5)))
          throw new Error('one who reads does not see what was told');
      }
    },
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
      await until(async () => (await rig.api.open()).length === 0, PATIENCE_MS);
      await client.close();
    },
  };
}

interface Reader {
  readonly ws: WebSocket;
  readonly cards: ReadonlyMap<string, Card>;
  readonly seq: number;
  readonly gaps: readonly string[];
  /** The gaps that no merging explains. */
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
  if (!(await until(() => seq >= 0, PATIENCE_MS))) throw new Error('a watcher got no snapshot');
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
