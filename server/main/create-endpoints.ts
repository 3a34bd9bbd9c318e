import { given } from '#lib/util/given';
import { PROJECT } from '../base/project.ts';
import type { Config } from './config.ts';
import type { Core } from './create-core.ts';
import { listen } from './listen.ts';
import { preparePages } from './pages.ts';
import * as rooms from './rooms.ts';

// fault point: heartbeat
const HEARTBEAT_MS = 10_000;
/** Messages of one client. */
const FLOOD = { burst: 2_000, perSecond: 1_000 };

/** What faces the outside: HTTP, sockets and pages, each behind its own credential check. */
export async function createEndpoints(
  config: Config,
  network: rooms.tls.Network,
  core: Core,
  closing: AbortSignal,
) {
  const { file, development } = config;
  const { table, metrics, store } = core;
  const { newSecret } = rooms.auth;
  const key = core.operator.token;
  // With port 0 it is known once the server listens.
  let port = config.port;
  const door = await rooms.tls.openDoor(config, network, core, () => port);
  const { origins } = core.devices;
  const base = { ...core, ...door, origins, key, closing, heartbeatMs: HEARTBEAT_MS };
  const access = rooms.auth.createAccess(config, base);
  const gates = rooms.http.createGates({ ...base, ...access });
  const lines = { flood: FLOOD, turns: rooms.sockets.createTurns() };
  const uploads = rooms.blobs.createUploadQuota(file.blobs, core.clock);
  const clients = await rooms.connections.openClients({ ...base, ...lines, uploads });
  const pages = await preparePages({
    dir: PROJECT,
    development,
    hostname: network.host,
    port: config.port,
  });
  const { snapshot, hub, onSocket: onWatch } = rooms.watch.createWatch(base);
  const ofChat = { ...base, ...lines, sessions: clients.sessions, snapshot };
  const onChat = rooms.clawseed.createChatSocketHandler(ofChat);
  const gate = rooms.http.createUpgradeGate({
    ...base,
    ...access,
    ...gates,
    closed: metrics.closed,
    sockets: {
      '/ws/client': clients.onSocket,
      '/ws/watch': onWatch,
      ...(file.clawseed.enabled ? { '/ws/chat': onChat } : {}),
    },
    chatTokenInUrl: file.clawseed.token_in_url,
    ...given({ devUpgrade: pages.devUpgrade }),
  });
  const services = await rooms.devices.createDeviceServices(
    { name: file.name, dataDir: config.dataDir },
    {
      ...base,
      failedAttempts: access.failedAttempts,
      addresses: door.reach.addresses,
      isConnected: table.hasClient,
    },
  );
  const openAi = file.openai_api.enabled
    ? rooms.openai.createOpenAiService({ ...base, config: file.openai_api, newSecret })
    : undefined;
  const { server, answered } = rooms.http.createServer({
    ...base,
    ...access,
    ...gates,
    ...services,
    gate,
    snapshot,
    uploads,
    development,
    openAi,
    mcp: rooms.mcp.serveMcp(config, {
      ...base,
      history: store.history,
      sources: { blobs: core.blobs, scale: rooms.blobs.scaleForModel },
      spans: core.tracing,
    }),
    agUi: rooms.agUi.createAgUiService({ ...base, snapshot }),
    mcpServers: core.mcpServers.service,
    push: core.push.service,
    notify: core.notifications.outbox,
    tools: core.registry,
    toolStats: (ownerToken) => rooms.calls.readToolStats(store, ownerToken),
    history: store.history,
    clients: clients.byHttp,
    streams: clients.streams,
    disconnect: clients.disconnect,
    reach: door.reach.describe,
    pages: pages.handle,
    answered: metrics.answered,
    metrics: metrics.reading({ ...core, gate, hub }, core.tracing.metrics),
  });
  door.serveTls(server, closing);
  port = await listen(server, { host: network.host, port: config.port });
  const { signInCodes } = access;
  return { server, answered, gate, hub, pages, signInCodes, port, reach: door.reach };
}

export type Endpoints = Awaited<ReturnType<typeof createEndpoints>>;
