import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import next from 'next';
import { Semaphore } from '#lib/limits/semaphore';
import { given } from '#lib/util/given';
import { PROJECT } from '../base/project.ts';
import { retryWhileTaken } from '../base/retry-while-taken.ts';
import { type Config, ConfigError } from './config.ts';
import type { Core } from './create-core.ts';
import * as rooms from './rooms.ts';

// fault point: heartbeat
const HEARTBEAT_MS = 10_000;
/** This many messages may come from one client. */
const FLOOD = { burst: 2_000, perSecond: 1_000 };

/** Opens what faces the outside: HTTP, sockets and pages, each behind its own credential check. */
export async function createEndpoints(
  config: Config,
  network: rooms.tls.Network,
  core: Core,
  closing: AbortSignal,
) {
  const { file, development } = config;
  const { metrics, store } = core;
  const { newSecret } = rooms.auth;
  const key = core.operator.token;
  // Port 0 becomes a real one once the server listens.
  let port = config.port;
  const door = await rooms.tls.openDoor(config, network, core, () => port);
  const { origins } = core.devices;
  const base = { ...core, ...door, origins, key, closing, heartbeatMs: HEARTBEAT_MS };
  const access = rooms.auth.createAccess(config, base);
  const gates = rooms.http.createGates({ ...base, ...access });
  const lines = { flood: FLOOD, largeFrames: new Semaphore({ atOnce: 1 }) };
  const uploads = rooms.blobs.createUploadQuota(file.blobs, core.clock);
  const clients = await rooms.clients.openClients({ ...base, ...lines, uploads });
  const pages = await preparePages({
    dir: PROJECT,
    dev: development,
    hostname: network.host,
    port: config.port,
  });
  const { snapshot, shownCalls, hub, onSocket: onWatch } = rooms.watch.createWatch(base);
  const waysIn = rooms.waysIn.openWaysIn({ ...base, shownCalls });
  const ofChat = { ...base, ...lines, ...waysIn, sessions: clients.sessions };
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
  const { failedAttempts } = access;
  const pairing = await rooms.clients.createPairing(
    { name: file.name, dataDir: config.dataDir },
    { ...base, failedAttempts, addresses: door.reach.addresses },
  );
  const openAi = file.openai_api.enabled
    ? rooms.openai.createOpenAiService({ ...base, ...waysIn, config: file.openai_api, newSecret })
    : undefined;
  const { server, answered } = rooms.http.createServer({
    ...base,
    ...access,
    ...gates,
    devices: core.devices.list,
    pairing,
    gate,
    snapshot,
    uploads,
    development,
    openAi,
    mcp: rooms.mcp.createMcpService({
      ...base,
      config: file.mcp,
      keepDays: config.keep.days,
      publicUrl: config.publicUrl,
      history: store.history,
      sources: { blobs: core.blobs, scale: rooms.blobs.scaleForModel },
      spans: core.tracing,
    }),
    agUi: rooms.agUi.createAgUiService({ ...base, ...waysIn }),
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

/**
 * Next is for pages only. It adds an `upgrade` listener of its own to the server
 * that it is given, and with a catch-all route would end our sockets; so it is
 * given one that never listens.
 */
async function preparePages(options: {
  readonly dir: string;
  readonly dev: boolean;
  readonly hostname: string;
  readonly port: number;
}) {
  const decoy = createServer();
  const app = next({ ...options, httpServer: decoy, quiet: true });
  await app.prepare();
  const handler = app.getRequestHandler();
  const handle: rooms.http.PageHandler = (incoming, outgoing) => handler(incoming, outgoing);
  /** Next's own socket is for hot reload, which development alone has. */
  const devUpgrade = (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (!decoy.emit('upgrade', incoming, socket, head)) socket.destroy();
  };
  return { handle, devUpgrade: options.dev ? devUpgrade : undefined, close: () => app.close() };
}

const WITHOUT_IPV6 = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL']);

/** Listens, and returns the port; throws `ConfigError` with what to do when it cannot. */
async function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<number> {
  const listenOn = (address: string) =>
    retryWhileTaken(
      async () => {
        server.listen(port, address);
        await once(server, 'listening');
      },
      (error) => codeOf(error) === 'EADDRINUSE',
    );
  try {
    await listenOn(host).catch((error: unknown) => {
      // A machine without IPv6 has no "::", which is all addresses elsewhere.
      if (host !== '::' || !WITHOUT_IPV6.has(codeOf(error))) throw error;
      return listenOn('0.0.0.0');
    });
  } catch (error) {
    throw new ConfigError(`The address ${host}:${port} ${explain(codeOf(error))}`);
  }
  return (server.address() as AddressInfo).port;
}

const explain = (code: string): string =>
  code === 'EADDRINUSE'
    ? 'is in use by another program; set CALLBOARD_PORT to a free one, or to 0 for any'
    : `cannot be listened on (${code}); CALLBOARD_HOST may be an address of this machine`;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);
