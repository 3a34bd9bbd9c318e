import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { Semaphore } from '#lib/limits/semaphore';
import { TokenBuckets } from '#lib/limits/token-bucket';
import { tempDir } from '#lib/testing/temp-dir';
import { FIRST_OPERATOR } from '../../auth/principal.ts';
import { createSystemClock } from '../../base/clock.ts';
import { createDiskBlobStore } from '../../blobs/disk-blob-store.ts';
import { Breaker } from '../../calls/breaker.ts';
import { type Calls, createCalls } from '../../calls/create-call-service.ts';
import { ALLOW_ALL } from '../../calls/testing/allow-all.ts';
import { createMemoryBus } from '../../events/memory-bus.ts';
import { InboundBudget, watchInbound } from '../../sockets/inbound.ts';
import { createFoldingStore } from '../../store/testing/folding-store.ts';
import { createErrorLog } from '../../testing/error-log.ts';
import {
  ClientConnection,
  createClientSocketHandler,
  type OpenConnection,
} from '../client-connection.ts';
import { createClientSessions } from '../client-session.ts';
import { Identities } from '../identities.ts';
import { createPool } from './create-pool.ts';

export const principal = FIRST_OPERATOR;

/** Calls and clients on real sockets and the real time, without the doors before them. */
export async function serveClients({
  heartbeatMs = 10_000,
  schedule = setImmediate,
}: {
  heartbeatMs?: number;
  /** When the store commits; by default at once. */
  schedule?(flush: () => void): void;
} = {}) {
  const dir = tempDir();
  const { logger, errors } = createErrorLog();
  const clock = createSystemClock();
  const store = createFoldingStore({ file: join(dir, 'callboard.db'), schedule });
  const bus = createMemoryBus({ firstSeq: await store.reserveSeqs(1_000), logger });
  const { registry, table } = createPool({ now: clock.now });
  let ids = 0;
  const newId = () => `id_${++ids}`;
  const blobs = createDiskBlobStore({ dir: join(dir, 'blobs') });
  const calls: Calls = createCalls({
    breaker: new Breaker({ clock, store, logger }),
    store,
    bus,
    registry,
    clock,
    policy: ALLOW_ALL,
    callers: { callerOf: () => undefined, operatorNamed: () => undefined },
    blobs,
    rootOf: (runId) => runId,
    newCallId: newId,
    claimRun: () => ({ ownerToken: null, ownerName: 'operator', write: () => Promise.resolve() }),
    facts: table.facts,
    logger,
  });
  const uploads = new TokenBuckets({ burst: Infinity, perSecond: 1 }, Date.now, 1);
  const identities = new Identities({
    ...{ store, table, clock, logger, newId, instances: calls.instances },
    audit: { record: async () => {} },
    isMadeHere: () => false,
    newSecret: () => `secret-${newId()}`,
    secretAfter: (token) => `after-${token}`,
  });
  const sessions = createClientSessions({
    ...{ identities, uploads, bus, registry, table },
    calls: calls.clients,
    instances: calls.instances,
    blobs,
    heartbeatMs,
    logger,
  });
  const ofConnections = {
    sessions,
    table,
    clock,
    heartbeatMs,
    flood: { burst: 2_000, perSecond: 1_000 },
    newNonce: newId,
    largeFrames: new Semaphore({ atOnce: 1 }),
  };
  const openConnection: OpenConnection = (line) => new ClientConnection(ofConnections, line);
  const handle = createClientSocketHandler(openConnection);
  const wss = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  const budget = new InboundBudget({ clock });
  const closed: number[] = [];
  wss.on('connection', (socket, incoming) => {
    socket.on('close', (code) => closed.push(code));
    const inbound = watchInbound(budget, socket, incoming.socket);
    handle(socket, { principal, stream: incoming.socket, inbound });
  });
  await once(wss, 'listening');
  const address = wss.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const url = `ws://127.0.0.1:${port}`;
  onTestFinished(async () => {
    for (const socket of wss.clients) socket.terminate();
    await new Promise((resolve) => wss.close(resolve));
    calls.stop();
    await store.close();
  });
  return {
    ...{ url, calls, clock, openConnection, store, bus, registry, sessions, table, errors },
    /** A client on a socket of its own, and all that it has received. */
    async connect<Received extends { readonly type: string }>() {
      const socket = new WebSocket(url);
      const inbox: Received[] = [];
      socket.on('message', (data) => inbox.push(JSON.parse(String(data))));
      await once(socket, 'open');
      const send = (message: object) => socket.send(JSON.stringify(message));
      return { socket, inbox, send };
    },
    /** Cuts all lines without a word. */
    cut() {
      for (const socket of wss.clients) socket.terminate();
    },
    /** Codes of the sockets that have closed. */
    closed,
  };
}
