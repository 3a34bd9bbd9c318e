import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { mergeCard } from '#lib/call/merge-card';
import type { Card } from '#lib/protocol/card';
import { toFrame, upgradeHead } from '../../contract/kit/raw-socket.ts';
import { type Socket as OpenSocket, openSocket } from '../../contract/kit/socket.ts';
import { connectClient } from '../../contract/kit/tool-client.ts';
import type { Callboard } from '../../start-callboard.ts';
import { createMemoryMeter } from '../net/memory-meter.ts';
import { inRig, metric, type Rig } from '../net/rig.ts';
import type { Bad, Played, Scenario } from '../scenario.ts';
import { PATIENCE_MS, until } from '../world/until.ts';
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
    const play = async (rig: Rig): Promise<Played> => {
      const counts = context.isShort
        ? { fast: 5, late: 3, never: 5, bytes: 16_000 }
        : { fast: 50, late: 10, never: 40, bytes: 4_000 };
      const { board, bad } = rig;
      const watchers = () => metric(rig, 'watchers');
      const news = await openNews(rig, counts.bytes);
      // The log has its limit from the first event on, so it is filled under the meter's eyes.
      const memory = await meter.follow(board.pid);
      await news.fillLog();
      const fast = await Promise.all(Array.from({ length: counts.fast }, () => openReader(board)));
      const [truth] = fast;
      if (!truth) throw new Error('nobody reads');
      await oneByOne(news, truth);
      const merged = await comeLate(rig, news, truth, counts.late);
      news.start();
      const startedAt = performance.now();
      await sleep(NEWS_ALONE_MS);
      const never = Array.from({ length: counts.never - 1 }, () => openNonReader(board));
      // The last of them reads what is there once it is given up: the reason is among it.
      const sleeper = await openReader(board);
      sleeper.socket.pause();
      const all = counts.fast + 1;
      await until(async () => (await watchers()) >= all + counts.never, PATIENCE_MS, 50);
      const stopAt = performance.now();
      if (!(await until(async () => (await watchers()) <= all, CUT_MS, 50)))
        bad('I13', `after ${CUT_MS} ms ${await watchers()} watchers are served; ${all} read`);
      sleeper.socket.resume();
      const cutMs = Math.round(performance.now() - stopAt);
      if (!(await until(() => sleeper.isClosed)))
        bad('I13', 'a watcher was given up and is connected');
      if (!GIVEN_UP.includes(sleeper.closeCode)) {
        const detail = `a watcher that did not read was closed with ${sleeper.closeCode}; ${TOO_SLOW} is right`;
        bad('I9', detail);
      }
      if (!context.isShort) await sleep(LONG_RUN_MS - (performance.now() - startedAt));
      await news.stop();
      const grown = await memory.stop();
      await until(() => fast.every((one) => one.seq === truth.seq));
      for (const { lost, isClosed } of fast) {
        if (lost.length > 0)
          bad('I9', `a watcher that reads saw gaps: ${lost.slice(0, 3).join('; ')}`);
        if (isClosed) bad('I9', 'a watcher that reads was cut off');
      }
      if (grown.live > MEMORY_MIB.live || grown.held > MEMORY_MIB.held) {
        const detail = `memory grew by ${grown.live} MiB in use and ${grown.held} MiB held with ${counts.never} watchers that never read; at most ${MEMORY_MIB.live} and ${MEMORY_MIB.held}`;
        bad('I13', detail);
      }
      const p99 = Math.round(
        percentile(
          fast.flatMap(({ delays }) => delays),
          0.99,
        ),
      );
      for (const { socket } of fast) void socket.vanish();
      for (const socket of never) socket.destroy();
      // The news of this scenario come from a raw client, whose answers name nobody.
      const rest = await rig.rest({ areAnswersNamed: false });
      const { bytes: _, ...kinds } = counts;
      const seen = { events: news.told(), ...kinds, p99_ms: p99, cut_ms: cutMs, merged };
      const told_why = sleeper.closeCode === TOO_SLOW ? 1 : 0;
      return {
        figures: {
          ...rest.figures,
          ...seen,
          told_why,
          grown_mib: grown.live,
          held_mib: grown.held,
        },
        summary: `${news.told()} events, ${counts.fast} watchers that read, ${counts.late} that stopped for a while, ${counts.never} that never read: no gap, p99 ${p99} ms, late ones right again, the others cut off after ${cutMs} ms, memory +${grown.live} MiB in use, +${grown.held} MiB held`,
      };
    };
    return inRig(context, play, { env: meter.env });
  },
};

const percentile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
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
async function comeLate(rig: Rig, news: News, truth: Reader, count: number): Promise<number> {
  for (let left = LATE_TRIES; left > 0; left -= 1) {
    const late = await Promise.all(Array.from({ length: count }, () => openReader(rig.board)));
    for (const { socket } of late) socket.pause();
    await news.tellBytes(SLOW_BYTES, truth);
    // Once, while they are slow; nothing later makes up for it.
    for (let times = ONCE_EACH; times > 0; times -= 1) news.tellOnce();
    for (const { socket } of late) socket.resume();
    await news.settled();
    const isRight = (one: Reader) =>
      news.ids.every((id) => same(one.cards.get(id), truth.cards.get(id)));
    await until(() => late.every((one) => one.isClosed || isRight(one)), RIGHT_MS, 50);
    // On a machine under load they may have been given up before all of it was told, or read the reason.
    const isGivenUp = late.some((one) => one.isClosed && GIVEN_UP.includes(one.closeCode));
    for (const { socket } of late) void socket.vanish();
    if (isGivenUp) continue;
    const areRight =
      late.filter((one) => checkLate(one, news.ids, truth, rig.bad)).length === count;
    const merged = late.reduce((sum, one) => sum + one.gaps.length, 0);
    // All of it lay in the sockets' buffers, or is not merged: nothing is shown by that.
    if (merged === 0 && areRight) rig.bad('I9', 'a late watcher had nothing merged');
    return merged;
  }
  throw new Error(`${count} watchers that stopped reading were given up before they could go on`);
}

/** True when it has what one who read all the time has. */
function checkLate(one: Reader, ids: readonly string[], truth: Reader, bad: Bad): boolean {
  const wrong = ids.filter((id) => !same(one.cards.get(id), truth.cards.get(id)));
  const shown = (of: Reader) => JSON.stringify(of.cards.get(wrong[0] ?? '')?.progress);
  const lost = one.lost.slice(0, 3).join('; ');
  if (lost !== '') bad('I9', `a late watcher saw gaps that are no merging: ${lost}`);
  if (wrong.length > 0) {
    const example = `${shown(one)} instead of ${shown(truth)}`;
    bad('I9', `a late watcher has ${wrong.length} cards that are not right, e.g. ${example}`);
  }
  return lost === '' && wrong.length === 0;
}

const same = (one: Card | undefined, other: Card | undefined): boolean =>
  one !== undefined &&
  one.status === other?.status &&
  one.progress?.done === other?.progress?.done &&
  one.tip === other?.tip;

/** Calls that tell of themselves all the time, some that do so once, and many that do so together. */
async function openNews(rig: Rig, bytes: number) {
  const client = await connectClient(rig.board, {
    hello: { name: 'news' },
    tools: ['news'],
    patienceMs: PATIENCE_MS,
  });
  const ids: string[] = [];
  for (let n = 0; n < CALLS + ONCE + SLOW_CALLS; n += 1) {
    await rig.api.invoke('news', { timeout_ms: 300_000 });
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
      await until(async () => (await rig.api.open()).length === 0);
      await client.close();
    },
  };
}

interface Reader {
  readonly socket: OpenSocket<never>;
  readonly cards: ReadonlyMap<string, Card>;
  seq: number;
  readonly gaps: readonly string[];
  /** The gaps that no merging explains. */
  readonly lost: readonly string[];
  readonly delays: readonly number[];
  isClosed: boolean;
  /** 0 before. */
  closeCode: number;
}

interface Event {
  readonly type: string;
  readonly seq: number;
  readonly tool_call_id: string;
  readonly update: Card;
}

async function openReader(board: Callboard): Promise<Reader> {
  const cards = new Map<string, Card>();
  const gaps: string[] = [];
  const lost: string[] = [];
  const delays: number[] = [];
  const takeEvent = (isAlone: boolean, { type, seq, tool_call_id: id, update }: Event) => {
    if (seq !== reader.seq + 1) {
      gaps.push(`${seq} after ${reader.seq}`);
      // Merged events are told together; one alone skips nothing.
      if (isAlone) lost.push(`${seq} after ${reader.seq}`);
    }
    reader.seq = seq;
    if (type !== 'call') return;
    cards.set(id, mergeCard(cards.get(id), update));
    const sentAt = Number(update.tip);
    if (sentAt > 0) delays.push(performance.now() - sentAt);
  };
  const socket = await openSocket<never>(board, '/ws/watch', (value) => {
    const message = value as Event & {
      readonly events: readonly Event[];
      readonly calls: readonly { readonly tool_call_id: string; readonly card: Card }[];
    };
    if (message.type === 'snapshot') {
      reader.seq = message.seq;
      for (const { tool_call_id: id, card } of message.calls) cards.set(id, card);
    } else if (message.type === 'batch')
      for (const event of message.events) takeEvent(false, event);
    else takeEvent(true, message);
    return [];
  });
  const reader: Reader = {
    ...{ socket, cards, gaps, lost, delays },
    ...{ seq: -1, isClosed: false, closeCode: 0 },
  };
  void socket.closed.then(({ code }) => Object.assign(reader, { isClosed: true, closeCode: code }));
  socket.send({ type: 'watch' });
  if (!(await until(() => reader.seq >= 0))) throw new Error('a watcher got no snapshot');
  return reader;
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
