/**
 * The core of the server in a process of its own, with a client socket and a
 * watch socket and nothing around them: no HTTP, no pages. Beside it the raw
 * baseline: a plain `ws` server that sends, and takes what comes back.
 */

import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type WebSocket, WebSocketServer } from 'ws';
import { Semaphore } from '#lib/limits/semaphore';
import { TokenBuckets } from '#lib/limits/token-bucket';
import { FIRST_OPERATOR } from '../../server/auth/principal.ts';
import { createSystemClock } from '../../server/base/clock.ts';
import { createLogger } from '../../server/base/logger.ts';
import { createNewId } from '../../server/base/new-id.ts';
import { Breaker } from '../../server/calls/breaker.ts';
import { createCalls } from '../../server/calls/create-call-service.ts';
import { ALLOW_ALL } from '../../server/calls/testing/allow-all.ts';
import {
  ClientConnection,
  createClientSocketHandler,
} from '../../server/clients/client-connection.ts';
import { createClientSessions } from '../../server/clients/client-session.ts';
import { Identities } from '../../server/clients/identities.ts';
import { createPool } from '../../server/clients/testing/create-pool.ts';
import { createMemoryBus } from '../../server/events/memory-bus.ts';
import { InboundBudget, watchInbound } from '../../server/sockets/inbound.ts';
import { createSqliteStore } from '../../server/store/sqlite-store.ts';
import { createSnapshots } from '../../server/watch/snapshot.ts';
import { WatchHub } from '../../server/watch/watch-hub.ts';
import { createWatchSocketHandler } from '../../server/watch/watch-socket.ts';
import { createWholeLists } from '../../server/watch/whole-lists.ts';
import { createBarrier } from './barrier.ts';
import { ARGS, BARRIERS, type Baseline, KINDS, type Kind, TOOL_OF } from './kinds.ts';
import { inParallel } from './stats.ts';

const dir = mkdtempSync(join(tmpdir(), 'callboard-bench-'));
const clock = createSystemClock();
const newId = createNewId(Date.now);
const logger = createLogger();
const store = createSqliteStore({ file: join(dir, 'callboard.db') });
const bus = createMemoryBus({ firstSeq: await store.reserveSeqs(1_000_000_000), logger });
const { registry, table } = createPool({ now: clock.now });
const blobs = {
  put: () => Promise.reject(new Error('no blobs here')),
  find: async () => undefined,
  read: () => Promise.resolve(undefined),
};
const calls = createCalls({
  breaker: new Breaker({ clock, store, logger }),
  store,
  bus,
  registry,
  clock,
  policy: ALLOW_ALL,
  callers: { callerOf: () => undefined, operatorNamed: () => undefined },
  blobs,
  rootOf: (runId) => runId,
  newCallId: () => newId('tc'),
  claimRun: () => ({ ownerToken: null, ownerName: 'operator', write: () => Promise.resolve() }),
  facts: table.facts,
  logger,
});
const identities = new Identities({
  ...{ store, table, clock, logger, instances: calls.instances },
  audit: { record: async () => {} },
  isMadeHere: () => false,
  newId: () => `client_${randomUUID()}`,
  newSecret: () => randomUUID(),
  secretAfter: (token) => `after-${token}`,
});
const sessions = createClientSessions({
  uploads: new TokenBuckets({ burst: Infinity, perSecond: 1 }, Date.now, 1),
  identities,
  bus,
  registry,
  table,
  calls: calls.clients,
  instances: calls.instances,
  blobs,
  heartbeatMs: 60_000,
  logger,
});
const ofConnections = {
  sessions,
  table,
  clock,
  heartbeatMs: 60_000,
  flood: { burst: 1_000_000, perSecond: 1_000_000 },
  newNonce: randomUUID,
  largeFrames: new Semaphore({ atOnce: 1 }),
};
const onClient = createClientSocketHandler((line) => new ClientConnection(ofConnections, line));
const listed = { bus, registry, clients: table.listings, publishNow: () => {} };
const snapshot = createSnapshots({
  devices: () => ({ asking: 0, waiting: 0 }),
  calls,
  runs: { watched: () => Promise.resolve([]) },
  ...listed,
});
const lists = createWholeLists(listed);
const hub = new WatchHub({ bus, snapshot, lists, clock, logger });
const onWatch = createWatchSocketHandler({ hub, calls, clock, heartbeatMs: 60_000, logger });

const rawWatchers = new Set<WebSocket>();
const rawWaiting = new Map<number, () => void>();
let rawClient: WebSocket | undefined;
let rawNext = 0;

const budget = new InboundBudget({ clock });
const server = createServer();
const wss = new WebSocketServer({ noServer: true, perMessageDeflate: false, clientTracking: true });
server.on('upgrade', (request, socket, head) => {
  wss.handleUpgrade(request, socket, head, (ws) => {
    if (request.url === '/client') {
      const inbound = watchInbound(budget, ws, request.socket);
      onClient(ws, { principal: FIRST_OPERATOR, stream: socket, inbound });
    } else if (request.url === '/watch') onWatch(ws);
    else if (request.url === '/raw-watch')
      rawWatchers.add(ws.on('close', () => rawWatchers.delete(ws)));
    else rawConnect(ws);
  });
});

function rawConnect(ws: WebSocket): void {
  rawClient = ws;
  ws.on('message', (data) => {
    const message = JSON.parse(String(data));
    const resolve = rawWaiting.get(message.id);
    rawWaiting.delete(message.id);
    resolve?.();
  });
}

const barrier = createBarrier();

async function rawCall(barriers: number): Promise<void> {
  if (barriers > 1) await barrier.durable();
  await new Promise<void>((resolve) => {
    rawNext += 1;
    rawWaiting.set(rawNext, resolve);
    const request = { type: 'tool_call_request', id: rawNext, name: 'echo', args: ARGS };
    rawClient?.send(JSON.stringify(request));
  });
  if (barriers > 0) await barrier.durable();
}

async function call(kind: Kind): Promise<void> {
  const outcome = await calls.invoke({
    principal: FIRST_OPERATOR,
    tool: TOOL_OF[kind],
    runId: 'run_bench',
    args: ARGS,
    waitsForEnd: true,
  });
  if (!outcome.ok) throw new Error(outcome.message);
  const final = await calls.wait(outcome.call.id, 10_000);
  if (final?.status !== 'SUCCEEDED') throw new Error(`ended ${final?.status}`);
}

/** `moments` bursts of `updates` card updates each; resolves when all was handed to the sockets. */
async function publish({
  raw,
  moments,
  updates,
}: {
  raw: boolean;
  moments: number;
  updates: number;
}) {
  for (let moment = 0; moment < moments; moment++) {
    for (let n = 0; n < updates; n++) {
      const event = {
        type: 'call' as const,
        tool_call_id: `tc_${n}`,
        run_id: 'run_bench',
        update: {
          status: 'DOING' as const,
          tip: 'Working',
          progress: { done: moment, total: moments },
        },
      };
      if (!raw) bus.publish(event);
      else {
        const text = JSON.stringify({ ...event, seq: moment * updates + n });
        for (const socket of rawWatchers) socket.send(text);
      }
    }
    await new Promise((resolve) => setImmediate(resolve));
    await drained();
  }
}

/** A sender that outruns its readers measures memory, not speed. */
async function drained(): Promise<void> {
  while ([...wss.clients].some((socket) => socket.bufferedAmount > 64 * 1024)) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

type Request =
  | { type: 'calls'; series: Kind | Baseline; count: number; inFlight: number }
  | { type: 'publish'; raw: boolean; moments: number; updates: number }
  | { type: 'memory' };

const isKind = (series: Kind | Baseline): series is Kind => KINDS.some((kind) => kind === series);

const workOf = (series: Kind | Baseline) =>
  isKind(series) ? () => call(series) : () => rawCall(BARRIERS[series]);

async function handle(request: Request): Promise<object> {
  switch (request.type) {
    case 'calls':
      return inParallel(request.count, request.inFlight, workOf(request.series));
    case 'publish':
      await publish(request);
      return {};
    case 'memory':
      globalThis.gc?.();
      return { rss: process.memoryUsage().rss };
  }
}

process.on('message', (request: Request) => {
  handle(request).then(
    (answer) => process.send?.(answer),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('SIGTERM', () => {
  barrier.remove();
  rmSync(dir, { recursive: true, force: true });
  process.exit(0);
});
server.listen(0, '127.0.0.1', () =>
  process.send?.({ port: (server.address() as AddressInfo).port }),
);
