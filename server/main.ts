import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CLOSE } from '#lib/protocol/server-messages';
import { createAliveMark } from './alive-mark.ts';
import { openAudit } from './auth/audit.ts';
import { createCallers } from './auth/callers.ts';
import { createCredentials } from './auth/credentials.ts';
import { createFailedAttempts } from './auth/failed-attempts.ts';
import { createHostGate } from './auth/host-gate.ts';
import { loadInstanceId } from './auth/instance-id.ts';
import { knownSecrets } from './auth/known-secrets.ts';
import { createTokenCheck, loadOperatorToken } from './auth/operator-token.ts';
import { createSessions } from './auth/sessions.ts';
import { createSignInCodes } from './auth/sign-in-codes.ts';
import { Tokens } from './auth/tokens.ts';
import { formatBanner, reachableUrl } from './banner.ts';
import { createDiskBlobStore } from './blobs/disk-blob-store.ts';
import { scaleForModel } from './blobs/scale-image.ts';
import { CircuitBreaker } from './calls/breaker.ts';
import { createCalls } from './calls/create-call-service.ts';
import { readToolStats } from './calls/tool-stats.ts';
import { createSystemClock, momentOf } from './clock.ts';
import { type Config, ConfigError, readConfig } from './config.ts';
import { createClientIds } from './connections/client-ids.ts';
import { createClientSessions } from './connections/client-sessions.ts';
import { createClientSocketHandler } from './connections/client-socket.ts';
import { createClientTable } from './connections/client-table.ts';
import { ConnectedInstances } from './connections/connected-instances.ts';
import { createHttpClients } from './connections/http-clients.ts';
import { createMemoryBus } from './events/memory-bus.ts';
import { publishApproval } from './events/publish-approvals.ts';
import { publishListings } from './events/publish-listings.ts';
import { SEQ_BLOCK } from './events/seq-reservation.ts';
import { createSnapshots } from './events/snapshot.ts';
import { createWatchHub, WATCH_LIMITS } from './events/watch-hub.ts';
import { createWatchSocketHandler } from './events/watch-socket.ts';
import { createWholeLists } from './events/whole-lists.ts';
import { readHistory } from './history/describe-history.ts';
import { Retention } from './history/retention.ts';
import { createClientScript } from './http/client-script.ts';
import { createApi } from './http/create-api.ts';
import { createHttpServer } from './http/create-http-server.ts';
import { readiness } from './http/readiness.ts';
import { createRequestListener } from './http/request-listener.ts';
import { createRequestsInFlight } from './http/requests-in-flight.ts';
import { createUpgradeGate } from './http/upgrade-gate.ts';
import { listen } from './listen.ts';
import { createLogger } from './logger.ts';
import { serverMetrics } from './metrics.ts';
import { createNewId, hasFormOfNewId, timeOfNewId } from './new-id.ts';
import { openBrowser } from './open-browser.ts';
import { preparePages } from './pages.ts';
import { watchParent } from './parent-watch.ts';
import { openPolicy } from './policy/open-policy.ts';
import { type Arguments, readArguments } from './read-arguments.ts';
import { createRehearsalModel } from './rehearsal/rehearsal-model.ts';
import { retryWhileTaken } from './retry-while-taken.ts';
import { agentLimits, createAgent } from './runs/agent/create-agent.ts';
import { createModels } from './runs/agent/models.ts';
import { createRunService } from './runs/create-run-service.ts';
import { Delegation } from './runs/delegate/delegation.ts';
import { withoutModel } from './runs/delegate/sub-agents.ts';
import { createKnownRuns } from './runs/known-runs.ts';
import { RunTools } from './runs/run-tools/run-tools.ts';
import { createInboundBudget } from './sockets/inbound-budget.ts';
import { DataDirInUseError, lockDataDir } from './store/data-dir-lock.ts';
import { describeEnd, EXIT } from './store/integrity/describe-end.ts';
import { openStore } from './store/open-store.ts';
import { untilWritable } from './store/until-writable.ts';
import { threadFile } from './thread-file.ts';
import { createToolRegistry } from './tools/memory-tool-registry.ts';
import { openTools } from './tools/open-tools.ts';
import { OwnTools } from './tools/own-tools.ts';

// fault point: heartbeat
const HEARTBEAT_MS = 10_000;
/** For callers that waited when the server was stopped. */
const LAST_ANSWERS_MS = 1_500;
/** Between two pieces of what the rehearsal model writes: slow enough to be seen. */
const REHEARSAL_PACE_MS = 25;
const PROJECT = resolve(import.meta.dirname, '..');
const threadsOf =
  ({ development }: Config) =>
  (built: string, source: string) =>
    threadFile({ project: PROJECT, development }, built, source);
const newSecret = () => randomBytes(32).toString('base64url');
const newId = createNewId(Date.now);
const logger = createLogger();

interface CoreOptions extends Arguments {
  onStoreFailed(error: Error): void;
}

/** The parts in the middle: the record, who connects to it, and the agent. */
async function createCore(config: Config, { salvage, onStoreFailed }: CoreOptions) {
  const clock = createSystemClock();
  const threadOf = threadsOf(config);
  const lock = await retryWhileTaken(
    () => lockDataDir(config.dataDir),
    (error) => error instanceof DataDirInUseError,
  );
  const operator = await loadOperatorToken({ dataDir: config.dataDir, given: config.token });
  if (!operator.ok) throw new ConfigError(operator.message);
  const secrets = knownSecrets(operator.token, config.secrets);
  logger.hide(secrets.hide);
  const opened = openStore({
    file: join(config.dataDir, 'callboard.db'),
    salvage,
    now: clock.now,
    workerPath: (name) => threadOf(`${name}.mjs`, `store/${name}.ts`),
    logger,
    onFailed: onStoreFailed,
  });
  const { store } = opened;
  // Before anything is promised: the thread that writes is there, and the disk takes it.
  await store.write([]);
  const bus = createMemoryBus({
    firstSeq: await store.reserveSeqs(SEQ_BLOCK),
    reserve: store.reserveSeqs,
    logger,
  });
  const blobs = createDiskBlobStore({ dir: join(config.dataDir, 'blobs') });

  const breaker = new CircuitBreaker({ clock, store, logger });
  const instances = new ConnectedInstances();
  const delegation = new Delegation(config);
  const runTools = new RunTools(config.file.agent.result_bytes);
  const ofTools = { store, clock, hide: secrets.hide, env: process.env, logger, threadOf };
  const registry = createToolRegistry({
    providers: [
      new OwnTools(
        await openTools(config, { ...ofTools, othersRead: (call) => policy.othersRead(call) }),
      ),
      new OwnTools([...delegation.tools(), ...runTools.tools()]),
    ],
    availability: instances.availability,
    openCircuitOf: breaker.openCircuitOf,
    hide: secrets.hide,
  });
  const table = createClientTable({
    instances,
    now: clock.now,
    toolsOf: registry.namesOf,
    availabilityChanged: registry.availabilityChanged,
    openCircuitsOf: breaker.openCircuitsOf,
  });
  const tokens = new Tokens({ store, clock, newId, newSecret, logger });
  await tokens.load();
  const { prices } = config.file;
  const ofRuns = { store, bus, clock, newId, prices, secrets };
  const known = createKnownRuns({ ...ofRuns, maxSteps: config.file.agent.max_steps, logger });
  const { policy, hooks, ...policies } = await openPolicy(config, {
    ...{ store, registry, clock, logger, rootOf: delegation.rootOf, hide: secrets.hide },
    tokens,
  });
  const calls = createCalls({
    store,
    bus,
    registry,
    breaker,
    clock,
    ...{ ...policy.forCalls, results: hooks, callers: tokens, blobs, secrets },
    rootOf: delegation.rootOf,
    newCallId: () => newId('tc'),
    callMadeAt: (id) => timeOfNewId('tc', id),
    claimRun: known.claim,
    facts: table.facts,
    onDurable: (record, previous) => publishApproval(bus, record, previous),
    logger,
  });
  tokens.onRevoked((id) => void calls.ownerRevoked(id).catch(logger.error));
  const models = createModels({
    ...config.providers,
    defaultModel: config.model,
    rehearsal: createRehearsalModel({ clock, paceMs: REHEARSAL_PACE_MS }),
    ...{ settings: config.models, clock },
  });
  const agent = createAgent({
    ...{ calls, registry: delegation.offering(registry) },
    ...{ clock, logger, denialOf: policy.denialOf, ...agentLimits(config.file.agent) },
    images: { readBlob: (id) => blobs.read(id), scaleForModel: (bytes) => scaleForModel(bytes) },
  });
  const runs = createRunService({
    ...{ ...ofRuns, known, calls, agent, models, owners: tokens },
    ...{ offersTools: table.offersTools, subAgent: delegation.settingsOf },
    logger,
  });
  runTools.connect({ calls, runs, registry: delegation.offering(registry) });
  delegation.connect({ runs, known, registry, models, owners: tokens });
  const alive = createAliveMark({
    file: join(config.dataDir, 'alive'),
    now: () => momentOf(clock),
    logger,
  });
  await calls.recover(await alive.last());
  // guard: runs-recovered
  await runs.recover();
  clock.followWallClock(() => calls.wallClockMoved());
  const stopAlive = alive.keep();
  const listings = publishListings({ bus, clock, registry, clients: table, breaker });
  const retention = new Retention({
    ...{ keep: config.keep, store, blobs, clock, logger },
    forgetCalls: calls.forgetEnded,
    deleteRun: (runId, work) => runs.deleteUnused(runId, policies.deleting(runId, work)),
  });
  const stop = { alive: stopAlive, listings: listings.stop, policy: policies.stop };
  const history = { opened, retention };
  const outside = { registry, table, listings, calls, models, runs, tokens, policy };
  return { clock, lock, operator, history, store, bus, blobs, ...outside, stop };
}

type Core = Awaited<ReturnType<typeof createCore>>;

/** The doors: HTTP, sockets and pages, each behind its own credential check. */
async function createEndpoints(config: Config, core: Core, closing: AbortSignal) {
  const { clock, store, bus, blobs, registry, table, calls, runs, tokens, operator } = core;
  const callers = createCallers(createTokenCheck(operator.token), tokens);
  const instanceId = await loadInstanceId(config.dataDir);
  const sessions = createSessions({ store, clock, newSecret, secure: false, instanceId, logger });
  const signInCodes = createSignInCodes({ clock, newSecret });
  const failedAttempts = createFailedAttempts(clock);
  const credentials = createCredentials({ callers, sessions, failedAttempts });
  let port = config.port;
  const hostGate = createHostGate({
    scheme: 'http',
    port: () => port,
    host: config.host,
    allowedHosts: config.file.allowed_hosts,
    allowedOrigins: config.file.allowed_origins,
  });
  const listed = { bus, registry, clients: table.listings, publishNow: core.listings.publishNow };
  const snapshot = createSnapshots({ ...listed, calls, runs });
  const lists = createWholeLists(listed);
  const hub = createWatchHub({ bus, snapshot, lists, clock, limits: WATCH_LIMITS, logger });
  const inbound = createInboundBudget({ clock });
  const ids = createClientIds({ store, table, isMadeHere: (id) => hasFormOfNewId('client', id) });
  const forClients = { store, ids, bus, registry, table, instances: calls.instances, clock };
  const clientSessions = createClientSessions({
    ...forClients,
    calls: calls.clients,
    blobs,
    heartbeatMs: HEARTBEAT_MS,
    newId: () => newId('client'),
    newSecret,
    secretAfter: (token) => createHmac('sha256', operator.token).update(token).digest('base64url'),
    logger,
  });
  const httpClients = createHttpClients({ ...forClients, calls, answers: calls.clients, closing });
  const pages = await preparePages({
    dir: PROJECT,
    development: config.development,
    hostname: config.host,
    port: config.port,
  });
  const beat = { clock, heartbeatMs: HEARTBEAT_MS };
  const gate = createUpgradeGate({
    hostGate,
    credentials,
    ...{ sessions, tokens },
    inbound,
    sockets: {
      '/ws/client': createClientSocketHandler({
        ...beat,
        sessions: clientSessions,
        table,
        flood: { burst: 2_000, perSecond: 1_000 },
        newNonce: () => randomUUID(),
      }),
      '/ws/watch': createWatchSocketHandler({ ...beat, hub, logger }),
    },
    ...(pages.devUpgrade ? { devUpgrade: pages.devUpgrade } : {}),
    logger,
  });
  const api = createApi({
    ...{ calls, runs, tools: registry, clients: httpClients },
    toolStats: (ownerToken) => readToolStats(store, ownerToken),
    ...{ blobs, history: store.history },
    ...{ bus, snapshot, credentials, inbound, sessions, signInCodes, failedAttempts },
    ...{ callers, tokens, audit: await openAudit(core), policy: core.policy },
    clock,
    metrics: () => serverMetrics({ ...core, sockets: gate.openCount, watchers: hub.count }),
    closing,
    ready: () => readiness(store.failed, closing.aborted),
    logger,
  });
  const onRequest = createRequestListener({
    hostGate,
    credentials,
    api,
    pages: pages.handle,
    clientScript: createClientScript(join(PROJECT, 'dist', 'client', 'client.js')),
    clock,
    newNonce: () => randomBytes(16).toString('base64'),
    development: config.development,
    logger,
  });
  const inFlight = createRequestsInFlight(onRequest);
  const server = createHttpServer({ onRequest: inFlight.onRequest, onUpgrade: gate.onUpgrade });
  port = await listen(server, config);
  return { server, answered: inFlight.answered, gate, hub, pages, signInCodes, operator, port };
}

type Endpoints = Awaited<ReturnType<typeof createEndpoints>>;

/** Refuses new work, answers those who wait, makes all durable: in five seconds at most (contract, section 3). */
async function shutDown(core: Core, endpoints: Endpoints): Promise<void> {
  const turnsEnded = core.runs.close();
  core.calls.stop();
  core.stop.listings();
  core.stop.policy();
  endpoints.hub.close();
  endpoints.gate.close(CLOSE.restarting, 'The server is restarting');
  await turnsEnded;
  // The port stays open meanwhile, so that new requests are answered with "stopping".
  // guard: last-answers-awaited
  await endpoints.answered(LAST_ANSWERS_MS);
  endpoints.server.close();
  endpoints.server.closeIdleConnections();
  await endpoints.pages.close();
  await core.history.retention.stop();
  // fault point: pages-closed
  // guard: store-closed-before-end
  await core.history.opened.close();
  await core.stop.alive();
  core.lock.release();
  endpoints.server.closeAllConnections();
}

async function printBanner(config: Config, core: Core, endpoints: Endpoints): Promise<string> {
  const url = reachableUrl(config.host, endpoints.port);
  const signInUrl = `${url}${endpoints.signInCodes.make()}`;
  const { dataDir, model, keep } = config;
  const isGiven = endpoints.operator.source === 'given';
  const token = isGiven ? 'from CALLBOARD_TOKEN' : join(dataDir, 'token');
  const history = await readHistory({ ...core, keep });
  const facts = { url, signInUrl, dataDir, token, history, models: core.models };
  process.stdout.write(formatBanner({ ...facts, isModelSet: model !== undefined }));
  return signInUrl;
}

/**
 * What a failed write left on disk only a new start finds out. Until the disk takes
 * one, people can read; clients keep what they have to write and come back.
 */
async function endOnceWritable(error: Error, config: Config, endpoints: Endpoints): Promise<void> {
  logger.info(error.message);
  endpoints.gate.close(CLOSE.restarting, 'The server cannot write its record');
  await untilWritable({ dir: config.dataDir, pause: (ms) => sleep(ms) });
  process.exit(EXIT.storeFailed);
}

async function main(): Promise<void> {
  const config = readConfig(process.env, process.cwd());
  const closing = new AbortController();
  const storeFailed = Promise.withResolvers<Error>();
  const options = { ...readArguments(process.argv.slice(2)), onStoreFailed: storeFailed.resolve };
  const core = await createCore(config, options);
  const endpoints = await createEndpoints(config, core, closing.signal);

  const stop = (code = 0) => {
    if (closing.signal.aborted) return;
    closing.abort();
    // fault point: stop-limit
    setTimeout(() => process.exit(code || 1), 4_500).unref();
    shutDown(core, endpoints).then(
      () => process.exit(code),
      (error: unknown) => {
        logger.error(error);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', () => stop());
  process.on('SIGINT', () => stop());
  watchParent(() => stop());
  core.history.retention.start();
  core.history.opened.checkLater((damage) => {
    logger.info(damage.message);
    stop(EXIT.storeDamaged);
  });
  storeFailed.promise
    .then((error) => endOnceWritable(error, config, endpoints))
    .catch(logger.error);
  // It serves already; two seconds at most, so that the greeting names the model that is used.
  await core.models.discover();
  const stopAsking = core.models.keepAsking((model) => logger.info(`Model: ${model}`));
  closing.signal.addEventListener('abort', stopAsking);
  const signIn = await printBanner(config, core, endpoints);
  for (const line of withoutModel(config.agents, core.models)) logger.info(line);
  await openBrowser(signIn, { env: process.env, platform: process.platform });
}

// fault point: start
main().catch((error: unknown) => {
  const { code, line } = describeEnd(error, [ConfigError]);
  if (line === undefined) logger.error(error);
  else logger.info(line);
  process.exit(code);
});
