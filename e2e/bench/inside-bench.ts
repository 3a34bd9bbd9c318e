import { once } from 'node:events';
import { WebSocket } from 'ws';
import { startChild } from './child.ts';
import { connectEcho } from './echo-client.ts';
import { median, type Ratio, ratio, round, summarise } from './stats.ts';

const ROUNDS = 5;
const WATCHERS = [1, 100, 1_000] as const;
const IDLE_CLIENTS = 1_000;

interface Calls {
  readonly times: number[];
  readonly perSecond: number;
}

/** Calls, fan-out and memory of the core alone, each against raw `ws` in the same process. */
export async function benchInside(): Promise<{ ratios: Ratio[]; detail: object }> {
  const child = await startChild('inside-server.ts');
  const url = `ws://127.0.0.1:${(child.ready as { port: number }).port}`;
  try {
    // First, while the heap is as small as it will be: later it has room to spare.
    const memory = await benchMemory(child, url);
    const calls = await benchCalls(child, url);
    const fanOut = [];
    for (const watchers of WATCHERS) fanOut.push(await benchFanOut(child, url, watchers));
    return {
      ratios: [...calls.ratios, ...fanOut.map((one) => one.ratio)],
      detail: {
        calls: calls.detail,
        fanOut: fanOut.map((one) => one.detail),
        memory,
      },
    };
  } finally {
    await child.stop();
  }
}

type Child = Awaited<ReturnType<typeof startChild>>;

async function benchCalls(child: Child, url: string) {
  const ours = await connectEcho(`${url}/client`, 'no token is asked for here');
  const raw = await connectEcho(`${url}/raw`);
  const run = async (isRaw: boolean, count: number, inFlight: number) =>
    (await child.ask({ type: 'calls', raw: isRaw, count, inFlight })) as Calls;
  for (const isRaw of [true, false]) await run(isRaw, 3_000, 64);
  const measure = async () => ({
    rawAlone: await run(true, 1_000, 1),
    oursAlone: await run(false, 1_000, 1),
    rawMany: await run(true, 10_000, 64),
    oursMany: await run(false, 10_000, 64),
  });
  type Round = Awaited<ReturnType<typeof measure>>;
  const rounds: Round[] = [];
  for (let n = 0; n < ROUNDS; n++) rounds.push(await measure());
  ours.close();
  raw.close();
  const figures = (of: keyof Round) => ({
    p50: median(rounds.map((one) => summarise(one[of].times).p50)),
    p99: median(rounds.map((one) => summarise(one[of].times).p99)),
    perSecond: median(rounds.map((one) => one[of].perSecond)),
  });
  const [rawAlone, oursAlone] = [figures('rawAlone'), figures('oursAlone')];
  const [rawMany, oursMany] = [figures('rawMany'), figures('oursMany')];
  return {
    ratios: [
      ratio('Inside: p50, 64 in flight', 'ms', oursMany.p50, rawMany.p50, { atMost: 3 }),
      ratio('Inside: p50, one at a time', 'ms', oursAlone.p50, rawAlone.p50, { atMost: 3 }),
      ratio('Inside: throughput, 64 in flight', 'calls/s', oursMany.perSecond, rawMany.perSecond, {
        atLeast: 0.3,
      }),
    ],
    detail: { rawAlone, oursAlone, rawMany, oursMany },
  };
}

async function benchFanOut(child: Child, url: string, watchers: number) {
  const updates = 50;
  const moments = Math.max(20, Math.round(20_000 / watchers / updates));
  const events = moments * updates;
  const rates: Record<'raw' | 'ours', number[]> = { raw: [], ours: [] };
  for (let n = 0; n < 3; n++) {
    for (const kind of ['raw', 'ours'] as const) {
      const feed = await connectWatchers(url, kind, watchers);
      const begin = performance.now();
      const all = feed.received(events);
      await child.ask({ type: 'publish', raw: kind === 'raw', moments, updates });
      await all;
      rates[kind].push((events * watchers) / ((performance.now() - begin) / 1000));
      await feed.close();
    }
  }
  const [ours, raw] = [median(rates.ours), median(rates.raw)];
  return {
    ratio: ratio(`Fan-out to ${watchers} watchers`, 'updates/s', ours, raw, { atLeast: 1 }),
    detail: { watchers, events, updatesPerMoment: updates },
  };
}

async function connectWatchers(url: string, kind: 'raw' | 'ours', count: number) {
  const sockets: WebSocket[] = [];
  const seen = new Array<number>(count).fill(0);
  let wanted = Number.POSITIVE_INFINITY;
  let missing = count;
  let resolveAll = () => {};
  for (let n = 0; n < count; n++) {
    const socket = new WebSocket(`${url}/${kind === 'raw' ? 'raw-watch' : 'watch'}`, {
      perMessageDeflate: false,
    });
    sockets.push(socket);
    await once(socket, 'open');
    if (kind === 'ours') {
      const snapshot = once(socket, 'message');
      socket.send('{"type":"watch"}');
      await snapshot;
    }
    socket.on('message', (data) => {
      // Parsed on both sides, as any watcher has to.
      const message = JSON.parse(String(data));
      const before = seen[n] ?? 0;
      seen[n] = before + (message.type === 'batch' ? message.events.length : 1);
      if (before < wanted && (seen[n] ?? 0) >= wanted && --missing === 0) resolveAll();
    });
  }
  return {
    received(events: number): Promise<void> {
      wanted = events;
      return new Promise((resolve) => {
        resolveAll = resolve;
      });
    },
    async close(): Promise<void> {
      for (const socket of sockets) socket.terminate();
      await Promise.all(sockets.map((socket) => once(socket, 'close')));
    },
  };
}

async function benchMemory(child: Child, url: string) {
  const rss = async () => ((await child.ask({ type: 'memory' })) as { rss: number }).rss;
  const before = await rss();
  const clients = [];
  for (let n = 0; n < IDLE_CLIENTS; n++) clients.push(await connectEcho(`${url}/client`, 'none'));
  const after = await rss();
  for (const client of clients) client.close();
  const each = (after - before) / IDLE_CLIENTS;
  return {
    idleClients: IDLE_CLIENTS,
    kilobytesEach: round(each / 1024, 1),
    totalMegabytes: round((after - before) / 2 ** 20, 1),
  };
}
