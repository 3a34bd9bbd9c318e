import { once } from 'node:events';
import { request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { TokenBuckets } from '#lib/limits/token-bucket';
import { snapshot } from '#lib/stores/testing/fixtures';
import type { Audit, AuditedAct } from '../../auth/audit.ts';
import { createCredentials } from '../../auth/credentials.ts';
import { createFailedAttempts } from '../../auth/failed-attempts.ts';
import { createHostGate } from '../../auth/host-gate.ts';
import { createPeerOf, type PeerOptions } from '../../auth/peer.ts';
import { hashSecret, newSecret } from '../../auth/secrets.ts';
import { createSignInCodes, Sessions } from '../../auth/sessions.ts';
import { Tokens } from '../../auth/tokens.ts';
import { createSystemClock } from '../../base/clock.ts';
import { createNewId } from '../../base/new-id.ts';
import { createTestDevices } from '../../clients/testing/create-test-devices.ts';
import { testPolicy } from '../../policy/testing/test-policy.ts';
import type { TokenRecord } from '../../store/records.ts';
import { createErrorLog } from '../../testing/error-log.ts';
import { createGates, createServer } from '../create-http.ts';
import type { HttpDeps } from '../http-deps.ts';
import { createOpenSockets, type SocketUse } from '../open-sockets.ts';
import type { PageHandler } from '../page-server.ts';
import type { TrustFacts } from '../trust-pages.ts';
import { createUpgradeGate, type SocketHandler, type UpgradeGateDeps } from '../upgrade-gate.ts';
import {
  createFakeBlobs,
  createFakeBus,
  createFakeCalls,
  createFakeClients,
  createFakeSessionStore,
  fakeAgUi,
  fakeMcp,
  fakeMcpServers,
  fakeNotify,
  fakePush,
  fakeRuns,
  fakeStreams,
  fakeTools,
} from './fake-services.ts';

export const TOKENS = {
  operator: 'operator-token',
  agent: 'cb_agent-token',
  device: 'cb_device-token',
  /** Named ones of people. */
  viewer: 'cb_viewer-token',
  colleague: 'cb_colleague-token',
};

const record = (
  secret: string,
  kind: TokenRecord['kind'],
  name: string,
  more: Partial<TokenRecord>,
): TokenRecord => ({
  ...{ id: `tok_${name}`, kind, name, hash: hashSecret(secret), createdBy: 'operator' },
  ...{ role: null, tools: null, clientId: null, createdAt: 0, lastUsedAt: null, revokedAt: null },
  ...more,
});

const RECORDS = [
  record(TOKENS.agent, 'agent', 'helper', { tools: ['echo'] }),
  record(TOKENS.device, 'device', 'device', { clientId: 'client_1' }),
  record(TOKENS.viewer, 'operator', 'vera', { role: 'viewer' }),
  record(TOKENS.colleague, 'operator', 'olga', { role: 'operator' }),
];

const NO_HOSTS: readonly string[] = [];

const SNAPSHOT = snapshot(10);

export interface TestServerOptions {
  readonly deps?: Partial<Omit<HttpDeps, 'connections'>>;
  readonly gate?: Partial<UpgradeGateDeps>;
  readonly pages?: PageHandler;
  /** The folder of the build. */
  readonly dist?: string;
  readonly onSocket?: SocketHandler;
  readonly development?: boolean;
  readonly allowedAttempts?: number;
  readonly maxSockets?: Record<SocketUse, number>;
  readonly mayBePlain?: (address: string) => boolean;
  readonly hasTls?: boolean;
  readonly trust?: () => TrustFacts | undefined;
  readonly proxy?: Partial<PeerOptions>;
  /** Whether pages of other origins may ask. */
  readonly devicePages?: 'ask' | 'off';
}

export interface Asked {
  readonly token?: string | null;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** The whole HTTP side on a real port, before fake services. It ends with its test. */
export async function startTestServer(options: TestServerOptions = {}) {
  const { logger, errors } = createErrorLog();
  const clock = options.deps?.clock ?? createSystemClock();
  const calls = createFakeCalls();
  const clients = createFakeClients();
  const bus = createFakeBus(5);
  const failedAttempts = createFailedAttempts(clock, { count: options.allowedAttempts ?? 20 });
  const store = { ...createFakeSessionStore(), listTokens: async () => RECORDS };
  const tokens = new Tokens({
    ...{ store, clock, newId: createNewId(clock.now), newSecret, logger },
    isFirst: (token) => token === TOKENS.operator,
  });
  await tokens.load();
  const audited: AuditedAct[] = [];
  const audit: Audit = {
    record: async (act) => void audited.push(act),
    entry(act) {
      audited.push(act);
      return { type: 'append_audit', entry: { ...act, seq: audited.length, at: clock.now() } };
    },
    list: async () => ({ entries: [], next: null }),
  };
  const sessions = new Sessions({
    store,
    clock,
    newSecret,
    instanceId: '0a1b2c3d',
    logger,
  });
  const signInCodes = createSignInCodes({ clock, newSecret });
  const ofDevices = await createTestDevices({
    pages: options.devicePages ?? 'ask',
    store,
    tokens,
    audit,
    clock,
    failedAttempts,
    logger,
  });
  let port = 0;
  const peerOf = createPeerOf({ trustedProxies: [], publicUrl: undefined, ...options.proxy });
  const hostGate = createHostGate({
    peerOf,
    machineHosts: () => NO_HOSTS,
    publicUrl: undefined,
    port: () => port,
    host: '127.0.0.1',
    allowedHosts: [],
    allowedOrigins: [],
  });
  const credentials = createCredentials({
    ...{ tokens, sessions, failedAttempts },
    origins: { isForeign: hostGate.isForeignPage, originOf: ofDevices.origins.originOf },
  });
  const gates = createGates({
    ...{ hostGate, credentials, sessions, tokens, clock, origins: ofDevices.origins },
    mayBePlain: options.mayBePlain ?? (() => true),
    hasTls: options.hasTls ?? false,
  });
  const openSockets = createOpenSockets({ sessions, tokens }, options.maxSockets);
  const onSocket = options.onSocket ?? (() => {});
  const gate = createUpgradeGate({
    ...{ ...gates, openSockets, hostGate, peerOf, credentials, logger },
    sockets: { '/ws/client': onSocket, '/ws/watch': onSocket },
    ...options.gate,
  });
  const { server } = createServer({
    ...{ ...gates, gate, openSockets, hostGate, peerOf, credentials, clock, logger },
    ...{ sessions, signInCodes, failedAttempts, tokens, audit, policy: testPolicy() },
    ...{ pairing: ofDevices.pairing, devices: ofDevices.devices },
    calls: calls.service,
    runs: fakeRuns,
    tools: fakeTools,
    toolStats: async () => ({ calls: 0, from: null, to: null, tools: [] }),
    disconnect: async (clientId) => (clientId === 'client_1' ? 2 : 0),
    blobs: createFakeBlobs(),
    uploads: new TokenBuckets({ burst: Infinity, perSecond: 1 }, Date.now, 1),
    history: { isBlobOf: async (_token, id) => id.endsWith('1') },
    clients: clients.service,
    streams: fakeStreams,
    bus,
    snapshot: async () => ({ seq: SNAPSHOT.seq, text: Buffer.from(JSON.stringify(SNAPSHOT)) }),
    reach: () => ({ tls: 'none', open: false, plaintext: false, ca: null, addresses: [] }),
    ...{ mcp: fakeMcp, mcpServers: fakeMcpServers, agUi: fakeAgUi },
    ...{ notify: fakeNotify, push: fakePush },
    answered: () => {},
    metrics: () => 'callboard_calls 1\n',
    store: { failed: false },
    closing: new AbortController().signal,
    pages: options.pages ?? ((_incoming, outgoing) => void outgoing.end('a page')),
    dist: options.dist ?? '/nowhere',
    trust: options.trust ?? (() => undefined),
    strictTransport: () => false,
    development: options.development ?? false,
    ...options.deps,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
  onTestFinished(async () => {
    gate.close(1012, 'test over');
    server.close();
    server.closeAllConnections();
  });
  return {
    server,
    port,
    gate,
    calls,
    clients,
    bus,
    tokens,
    audited,
    sessions,
    signInCodes,
    logged: errors,
    ...createRequester(port),
  };
}

export type TestServer = Awaited<ReturnType<typeof startTestServer>>;

export interface Answered {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
  readonly json: ReturnType<typeof JSON.parse>;
}

/** Requests as programs and browsers make them, headers untouched (`fetch` would set its own). */
function createRequester(port: number) {
  const ask = (method: string, path: string, asked: Asked = {}): Promise<Answered> =>
    new Promise((resolve, reject) => {
      const { token = TOKENS.operator, body } = asked;
      const isBytes = typeof body === 'string' || body instanceof Uint8Array;
      const bytes = body === undefined || isBytes ? body : JSON.stringify(body);
      const headers = {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(bytes === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(bytes) }),
        ...asked.headers,
      };
      const going = request({ host: '127.0.0.1', port, method, path, headers, agent: false });
      going.on('error', reject);
      going.on('response', async (response) => {
        const body = await text(response);
        const isJson = response.headers['content-type']?.startsWith('application/json') && body;
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, text: body, json: isJson ? JSON.parse(body) : undefined });
      });
      going.end(bytes);
    });
  return {
    get: (path: string, asked?: Asked) => ask('GET', path, asked),
    post: (path: string, body: unknown = {}, asked?: Asked) =>
      ask('POST', path, { ...asked, body }),
    ask,
    /** Bytes as they are; what came back until the server hung up, or sent `until`. */
    async raw(bytes: string, { until }: { until?: string } = {}): Promise<string> {
      const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
      let received = '';
      for await (const chunk of socket) {
        received += String(chunk);
        if (until !== undefined && received.includes(until)) break;
      }
      return received;
    },
  };
}
