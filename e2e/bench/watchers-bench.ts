import { once } from 'node:events';
import { WebSocket } from 'ws';
import { startChild } from './child.ts';
import { connectEcho } from './echo-client.ts';
import { median, type Ratio, ratio, round } from './stats.ts';

const WATCHERS = [1, 100, 1_000] as const;
const IDLE_CLIENTS = 1_000;

/** Fan-out and memory of the core alone, against raw `ws` in the same process. */
export async function benchWatchers(): Promise<{ ratios: Ratio[]; detail: object }> {
  const child = await startChild('inside-server.ts');
  const url = `ws://127.0.0.1:${(child.ready as { port: number }).port}`;
  try {
    // First, while the heap is as small as it will be: later it has room to spare.
    const memory = await benchMemory(child, url);
    const fanOut = [];
    for (const watchers of WATCHERS) fanOut.push(await benchFanOut(child, url, watchers));
    return {
      ratios: fanOut.map((one) => one.ratio),
      detail: {
        fanOut: fanOut.map((one) => one.detail),
        memory,
      },
    };
  } finally {
    await child.stop();
  }
}

type Child = Awaited<ReturnType<typeof startChild>>;

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
  for (let n = 0; n < IDLE_CLIENTS; n++)
    clients.push(await connectEcho(`${url}/client`, { kind: 'plain' }));
  const after = await rss();
  for (const client of clients) client.close();
  const each = (after - before) / IDLE_CLIENTS;
  return {
    idleClients: IDLE_CLIENTS,
    kilobytesEach: round(each / 1024, 1),
    totalMegabytes: round((after - before) / 2 ** 20, 1),
  };
}
