import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { given } from '#lib/util/given';
import { createAgUiService } from '../ag-ui/room.ts';
import {
  createCallers,
  createCredentials,
  createFailedAttempts,
  createHostGate,
  createIsAmong,
  createSignInCodes,
  createTokenCheck,
  loadFingerprint,
  loadInstanceId,
  newSecret,
  Sessions,
} from '../auth/room.ts';
import { hasFormOfNewId } from '../base/new-id.ts';
import { PROJECT, readVersion } from '../base/project.ts';
import { createUploadQuota, scaleForModel, type UploadQuota } from '../blobs/room.ts';
import { readToolStats } from '../calls/room.ts';
import { createChatSocketHandler, createKeptIdentities } from '../clawseed/room.ts';
import {
  createClientConnections,
  createClientIds,
  createClientSessions,
  createClientSocketHandler,
  createClientStreams,
  createDisconnectClient,
  createRefusedClaims,
  HttpClients,
  KeptRegistrations,
} from '../connections/room.ts';
import { DevicePairing, PairedDevices, ToolAdmission } from '../devices/room.ts';
import {
  createApi,
  createClientScript,
  createDevicePage,
  createForeignPages,
  createHttpServer,
  createKnownConnections,
  createOpenSockets,
  createPlainGate,
  createRequestListener,
  createRequestsInFlight,
  createTrustPages,
  createUpgradeGate,
  readiness,
} from '../http/room.ts';
import { createMcpService } from '../mcp/room.ts';
import { createOpenAiService } from '../openai/room.ts';
import { createTurns, InboundBudget } from '../sockets/room.ts';
import {
  countByKind,
  createHttpMetrics,
  createServerMetrics,
  createSocketMetrics,
  type MeasuredServer,
  type Metric,
} from '../telemetry/room.ts';
import {
  createSnapshots,
  createWatchHub,
  createWatchSocketHandler,
  createWholeLists,
  WATCH_LIMITS,
} from '../watch/room.ts';
import type { Config } from './config.ts';
import type { Core } from './create-core.ts';
import { listen } from './listen.ts';
import { isLoopbackHost, type Network } from './network.ts';
import { type Door, openDoor } from './open-door.ts';
import { preparePages } from './pages.ts';

// fault point: heartbeat
const HEARTBEAT_MS = 10_000;

/** Who asks, and whether the host that is asked is ours. */
async function createAccess(config: Config, core: Core, door: Door) {
  const { clock, store, tokens, operator, logger } = core;
  const callers = createCallers(createTokenCheck(operator.token), tokens);
  const instanceId = await loadInstanceId(config.dataDir);
  const sessions = new Sessions({ store, clock, newSecret, instanceId, logger });
  const signInCodes = createSignInCodes({ clock, newSecret });
  const failedAttempts = createFailedAttempts(clock);
  const { network, peerOf } = door;
  const hostGate = createHostGate({
    ...{ peerOf, port: door.port, host: network.host, publicUrl: network.publicUrl },
    machineHosts: door.machineHosts,
    allowedHosts: config.file.allowed_hosts,
    allowedOrigins: config.file.allowed_origins,
  });
  const isProxy = createIsAmong(network.trustedProxies);
  const plainGate = createPlainGate({
    hostGate,
    mayBePlain: (address) => network.isPlaintext || isLoopbackHost(address) || isProxy(address),
    hasTls: network.tls.kind !== 'none',
  });
  const { origins } = core.devices;
  const credentials = createCredentials({
    ...{ callers, sessions, failedAttempts },
    origins: { isForeign: hostGate.isForeignPage, originOf: origins.originOf },
  });
  const foreignPages = createForeignPages({ hostGate, origins });
  const inbound = new InboundBudget({ clock });
  core.push.follow(sessions);
  const connections = createKnownConnections({ hostGate, credentials });
  const shown = { credentials, connections, peerOf };
  const ofCallers = { callers, sessions, signInCodes, failedAttempts, ...shown };
  return { ...ofCallers, gates: { hostGate, plainGate, foreignPages }, inbound };
}

type Access = Awaited<ReturnType<typeof createAccess>>;

/** Clients with a socket of their own, and those without. */
function createClients(core: Core, uploads: UploadQuota, closing: AbortSignal) {
  const { clock, store, bus, blobs, table, calls, operator, tokens, newId, logger } = core;
  const ids = createClientIds({ store, table, isMadeHere: (id) => hasFormOfNewId('client', id) });
  const { list: devices } = core.devices;
  const { instances } = calls;
  const claimRefused = createRefusedClaims(core);
  const registry = new ToolAdmission({ registry: core.registry, devices, instances, logger });
  const forClients = { store, ids, bus, registry, table, instances, clock, claimRefused };
  const sessions = createClientSessions({
    ...forClients,
    calls: calls.clients,
    ...{ blobs, uploads },
    heartbeatMs: HEARTBEAT_MS,
    newId: () => newId('client'),
    newSecret,
    secretAfter: (token) => createHmac('sha256', operator.token).update(token).digest('base64url'),
    logger,
  });
  registry.onDecided(({ instanceId, ...decision }) => {
    const count = decision.decided.length;
    sessions.send(instanceId, { type: 'tools_registered', count, ...decision });
  });
  const byHttp = new HttpClients({
    ...{ ...forClients, calls, answers: calls.clients, closing, logger },
    registrations: new KeptRegistrations({ store, clock }),
    isLive: ({ tokenId }) => tokenId === null || tokens.isLive(tokenId),
  });
  devices.onRevoked(({ clientId }) => {
    registry.dropClient(clientId);
    byHttp.end(clientId);
    instances.revoked(clientId);
  });
  return { sessions, byHttp };
}

type Clients = ReturnType<typeof createClients>;
type Pages = Awaited<ReturnType<typeof preparePages>>;

interface SocketParts {
  readonly access: Access;
  readonly clients: Clients;
  readonly pages: Pages;
}

/** What of pairing waits for a person. */
const waitingOf = ({ devices: { pairings, list } }: Core) => ({
  asking: pairings.asking,
  waiting: list.waitingCount,
});

/** What watchers are shown, and the gate through which every socket comes. */
function createSockets(config: Config, core: Core, { access, clients, pages }: SocketParts) {
  const { clock, bus, registry, table, calls, runs, claimRun, tokens, audit, logger } = core;
  const { sessions } = clients;
  const listed = { bus, registry, clients: table.listings, publishNow: core.listings.publishNow };
  const snapshot = createSnapshots({ ...listed, calls, runs, devices: () => waitingOf(core) });
  const lists = createWholeLists(listed);
  const hub = createWatchHub({ bus, snapshot, lists, clock, limits: WATCH_LIMITS, logger });
  const beat = { clock, heartbeatMs: HEARTBEAT_MS };
  const ofClients = { sessions, flood: { burst: 2_000, perSecond: 1_000 }, turns: createTurns() };
  const chat = createChatSocketHandler({
    ...{ ...beat, ...ofClients, registry, bus, snapshot, runs, claimRun, audit, logger },
    ...{ kept: createKeptIdentities(), newSessionId: () => randomUUID() },
    key: core.operator.token,
  });
  const { enabled, token_in_url: chatTokenInUrl } = config.file.clawseed;
  const { gates, credentials, peerOf, inbound } = access;
  const connections = createClientConnections({
    ...{ ...beat, ...ofClients, table },
    newNonce: () => randomUUID(),
  });
  const streams = createClientStreams({ connections, clock, newSecret });
  const openSockets = createOpenSockets({ sessions: access.sessions, tokens });
  const socketMetrics = createSocketMetrics();
  const gate = createUpgradeGate({
    ...{ ...gates, credentials, peerOf, openSockets, inbound, logger },
    closed: socketMetrics.closed,
    sockets: {
      '/ws/client': createClientSocketHandler(connections),
      '/ws/watch': createWatchSocketHandler({ ...beat, hub, calls, logger }),
      ...(enabled ? { '/ws/chat': chat } : {}),
    },
    chatTokenInUrl,
    ...given({ devUpgrade: pages.devUpgrade }),
  });
  return { snapshot, hub, gate, streams, openSockets, socketMetrics };
}

/** Pages of strangers ask at most so often from one address: those of one origin, and all of them. */
const KNOCKS_OF_ORIGIN = { count: 6, windowMs: 60_000 };
const KNOCKS_OF_ADDRESS = { count: 60, windowMs: 60_000 };

/** How devices get in, and what people do to those that are. */
async function createDevices(
  config: Config,
  core: Core,
  { failedAttempts }: Access,
  { addresses }: Door['reach'],
  closing: AbortSignal,
) {
  const { clock, registry, table, tokens, audit } = core;
  const { list: devices, pairings, blocked } = core.devices;
  const workbench = {
    name: config.file.name ?? (hostname().split('.')[0] || 'Callboard'),
    fingerprint: await loadFingerprint(config.dataDir),
  };
  const isConnected = (clientId: string) => table.hasClient(clientId);
  return {
    devices: new PairedDevices({ devices, tokens, isConnected, audit, clock }),
    pairing: new DevicePairing({
      ...{ pairings, devices, blocked, audit, failedAttempts, registry, clock, closing, workbench },
      knocks: {
        ofOrigin: createFailedAttempts(clock, KNOCKS_OF_ORIGIN),
        ofAddress: createFailedAttempts(clock, KNOCKS_OF_ADDRESS),
      },
      addresses,
    }),
  };
}

const DAY_MS = 86_400_000;

/** Agents of others, by MCP. */
function createMcp(config: Config, core: Core, closing: AbortSignal) {
  const { store, operator } = core;
  const { days } = config.keep;
  const mcp = createMcpService({
    ...core,
    history: store.history,
    sources: { blobs: core.blobs, scale: (bytes) => scaleForModel(bytes) },
    key: operator.token,
    holdMs: config.file.mcp.hold_ms,
    approvalUrl: config.file.mcp.approval_url,
    publicUrl: config.publicUrl,
    keepMs: days === undefined ? null : days * DAY_MS,
    version: readVersion(),
    spans: core.tracing,
  });
  closing.addEventListener('abort', () => void mcp.close());
  return mcp;
}

/** Programs that speak the API of OpenAI, where they are let in. */
function createOpenAi({ file }: Config, core: Core) {
  const { openai_api: config } = file;
  return config.enabled
    ? createOpenAiService({ ...core, config, newSecret, key: core.operator.token })
    : undefined;
}

/** What there is now of all parts, and what they counted. */
function metricsOf(
  core: Core,
  { gate, hub, socketMetrics }: ReturnType<typeof createSockets>,
  httpMetrics: Metric,
): () => string {
  const measured: MeasuredServer = {
    ...core,
    sockets: () => gate.openCount,
    watchers: () => hub.count,
    clients: () => countByKind(core.table.listings()),
    approvalsOpen: () =>
      core.calls.watched().filter(({ card }) => card.phase === 'approval').length,
    version: readVersion(),
  };
  return createServerMetrics(measured, [...core.metrics, httpMetrics, socketMetrics]);
}

const newNonce = () => randomBytes(16).toString('base64');

/** What answers requests: the API and the pages. */
function createListener(
  config: Config,
  { clock, logger }: Core,
  { api, access, door, pages }: ListenerParts,
) {
  const { gates, credentials, connections } = access;
  const { peerOf, strictTransport } = door;
  return createRequestListener({
    ...{ ...gates, peerOf, credentials, connections, api, clock, logger },
    ...{ trustPages: createTrustPages(door.trust), strictTransport },
    pages: pages.handle,
    clientScript: createClientScript(join(PROJECT, 'dist', 'client', 'client.js')),
    devicePage: createDevicePage({
      ...{ newNonce, peerOf, strictTransport },
      dir: join(PROJECT, 'dist', 'device'),
    }),
    newNonce,
    development: config.development,
  });
}

interface ListenerParts {
  readonly api: ReturnType<typeof createApi>;
  readonly access: Access;
  readonly door: Door;
  readonly pages: Pages;
}

/** What faces the outside: HTTP, sockets and pages, each behind its own credential check. */
export async function createEndpoints(
  config: Config,
  network: Network,
  core: Core,
  closing: AbortSignal,
) {
  const { clock, store, bus, blobs, registry, calls, runs, tokens, policy, logger } = core;
  let port = config.port;
  const door = await openDoor(config, network, core, () => port);
  const access = await createAccess(config, core, door);
  const uploads = createUploadQuota(config.file.blobs, core.clock);
  const clients = createClients(core, uploads, closing);
  await clients.byHttp.restore();
  const pages = await preparePages({
    dir: PROJECT,
    development: config.development,
    hostname: network.host,
    port: config.port,
  });
  const sockets = createSockets(config, core, { access, clients, pages });
  const { hub, gate, ...ofSockets } = sockets;
  const { gates, ...ofAccess } = access;
  const { reach } = door;
  const ofDevices = await createDevices(config, core, access, reach, closing);
  const mcp = createMcp(config, core, closing);
  const httpMetrics = createHttpMetrics();
  const agUi = createAgUiService({
    ...{ ...core, snapshot: ofSockets.snapshot, key: core.operator.token },
    hide: core.secrets.hide,
  });
  const openAi = createOpenAi(config, core);
  const api = createApi({
    ...{ mcp, agUi, openAi, mcpServers: core.mcpServers, push: core.push.service },
    ...{ calls, runs, tools: registry, clients: clients.byHttp, tokens, policy },
    toolStats: (ownerToken) => readToolStats(store, ownerToken),
    ...{ blobs, uploads, history: store.history },
    ...{ ...ofSockets, bus, clock, closing, logger },
    ...{ ...ofAccess, ...ofDevices, audit: core.audit, notify: core.notifications.outbox },
    disconnect: createDisconnectClient(core),
    isForeignPage: gates.hostGate.isForeignPage,
    reach: reach.describe,
    answered: httpMetrics.answered,
    metrics: metricsOf(core, sockets, httpMetrics),
    ready: () => readiness(store.failed, closing.aborted),
  });
  const onRequest = createListener(config, core, { api, access, door, pages });
  const inFlight = createRequestsInFlight(onRequest);
  const server = createHttpServer({ onRequest: inFlight.onRequest, onUpgrade: gate.onUpgrade });
  door.serveTls(server, closing);
  port = await listen(server, { host: network.host, port: config.port });
  const { signInCodes } = access;
  return { server, answered: inFlight.answered, gate, hub, pages, signInCodes, port, reach };
}

export type Endpoints = Awaited<ReturnType<typeof createEndpoints>>;
