import { join } from 'node:path';
import type { Attachment } from '#lib/protocol/attachment';
import { spellingOf } from '#lib/protocol/tool-name';
import { knownSecrets, loadOperatorToken, newSecret, openAudit, Tokens } from '../auth/room.ts';
import { type Clock, createSystemClock, momentOf } from '../base/clock.ts';
import type { ServerLogger } from '../base/logger.ts';
import { createNewId, timeOfNewId } from '../base/new-id.ts';
import { readVersion, threadFile } from '../base/project.ts';
import { retryWhileTaken } from '../base/retry-while-taken.ts';
import { createDiskBlobStore, scaleForModel } from '../blobs/room.ts';
import { AskEach, Breaker, type ClaimRun, createCalls } from '../calls/room.ts';
import { ConnectedInstances, createClientTable } from '../connections/room.ts';
import { openDevices } from '../devices/room.ts';
import { createMemoryBus, SEQ_BLOCK } from '../events/room.ts';
import { Retention } from '../history/room.ts';
import { McpServers, openMcpServers } from '../mcp-client/room.ts';
import { openNotifications } from '../outbox/room.ts';
import { openPolicy } from '../policy/room.ts';
import { openPush } from '../push/room.ts';
import { createRehearsalModel } from '../rehearsal/room.ts';
import {
  AgentRuns,
  agentLimits,
  createAgent,
  Delegation,
  KnownRuns,
  Models,
  RunTools,
} from '../runs/room.ts';
import { DataDirInUseError, lockDataDir, openStore } from '../store/room.ts';
import {
  createCallMetrics,
  createDeliveryMetrics,
  createStoreMetrics,
  createTracing,
  logCall,
} from '../telemetry/room.ts';
import { OwnTools, openTools, ToolRegistry } from '../tools/room.ts';
import { publishApproval, publishListings } from '../watch/room.ts';
import { createAliveMark } from './alive-mark.ts';
import { type Config, ConfigError, readFile } from './config.ts';
import type { Arguments } from './read-arguments.ts';

/** Between two pieces of what the rehearsal model writes: slow enough to be seen. */
const REHEARSAL_PACE_MS = 25;

export interface CoreOptions extends Pick<Arguments, 'salvage'> {
  /** Of which `shell` passes on what the configuration names. */
  readonly env: NodeJS.ProcessEnv;
  readonly logger: ServerLogger;
  onStoreFailed(error: Error): void;
}

/** The record: what is on disk, and the log of what watchers see. */
async function openRecord(
  config: Config,
  { salvage, logger, onStoreFailed }: Omit<CoreOptions, 'env'>,
) {
  const clock = createSystemClock();
  const threadOf = (built: string, source: string) => threadFile(config.development, built, source);
  const lock = await retryWhileTaken(
    () => lockDataDir(config.dataDir),
    (error) => error instanceof DataDirInUseError,
  );
  const operator = await loadOperatorToken({ dataDir: config.dataDir, given: config.token });
  if (!operator.ok) throw new ConfigError(operator.message);
  const secrets = knownSecrets(operator.token, config.secrets);
  logger.hide(secrets.hide);
  const storeMetrics = createStoreMetrics();
  const opened = openStore({
    file: join(config.dataDir, 'callboard.db'),
    salvage,
    now: clock.now,
    workerPath: (name) => threadOf(`${name}.mjs`, `store/${name}.ts`),
    logger,
    onFailed: onStoreFailed,
    onCommitted: storeMetrics.committed,
  });
  const { store } = opened;
  // Before anything is promised: the thread that writes is there, and the disk takes it.
  await store.write([]);
  const bus = createMemoryBus({
    firstSeq: await store.reserveSeqs(SEQ_BLOCK),
    reserve: store.reserveSeqs,
    logger,
  });
  const blobs = createDiskBlobStore({ dir: join(config.dataDir, 'blobs'), hide: secrets.hide });
  const newId = createNewId(Date.now);
  const tokens = new Tokens({ store, clock, newId, newSecret, logger });
  await tokens.load();
  const audit = await openAudit({ store, clock });
  const devices = await openDevices({
    ...{ store, tokens, audit, clock, newId, bus, logger },
    pages: config.file.pairing.pages,
  });
  const tracing = createTracing({
    ...{ config: config.traces, version: readVersion(), clock, logger, hide: secrets.hide },
    durable: {
      file: join(config.dataDir, 'traces-mark.json'),
      ended: { endedSince: store.history.endedSince, read: (id) => store.getCall(id) },
    },
  });
  const push = await openPushNotes(config, { store, tokens, clock, newId, logger });
  const deliveryMetrics = createDeliveryMetrics();
  const notifications = await openNotifications(config.notify, {
    ...{ store, clock, newId, logger, isTracing: tracing.isOn },
    ...{ counted: deliveryMetrics.counted, sources: [push.targets] },
  });
  const kept = { lock, operator, secrets, opened, store, bus, blobs, tokens, audit, devices };
  const measured = { tracing, metrics: [storeMetrics, deliveryMetrics, ...tracing.metrics] };
  return { ...kept, push, notifications, clock, newId, threadOf, logger, ...measured };
}

/** To browsers that have no page open. */
const openPushNotes = (
  config: Config,
  parts: Pick<Parameters<typeof openPush>[0], 'store' | 'tokens' | 'clock' | 'newId' | 'logger'>,
) =>
  openPush({
    ...{ ...parts, config: config.file.push, dataDir: config.dataDir },
    publicUrl: config.publicUrl,
    fetch: (url, init) => fetch(url, init),
  });

type OpenedRecord = Awaited<ReturnType<typeof openRecord>>;

interface ToolOptions extends Pick<CoreOptions, 'env'> {
  readonly othersRead: NonNullable<Parameters<typeof openTools>[1]['othersRead']>;
}

/** Which tools there are, and which clients are there for them. */
async function createTools(
  config: Config,
  { store, clock, secrets, threadOf, logger, devices, notifications }: OpenedRecord,
  { env, othersRead }: ToolOptions,
) {
  const breaker = new Breaker({ clock, store, logger });
  const instances = new ConnectedInstances();
  const delegation = new Delegation(config);
  const runTools = new RunTools(config.file.agent.result_bytes);
  const ofTools = { store, clock, hide: secrets.hide, env, logger, threadOf, othersRead };
  const askEach = new AskEach();
  const own = [
    new OwnTools(await openTools(config, ofTools)),
    new OwnTools([...delegation.tools(), ...runTools.tools()]),
  ];
  const ownSpellings = new Set(
    own.flatMap((one) => one.list().map(({ name }) => spellingOf(name))),
  );
  const mcpServers = await openMcpServers({
    ...{ store, clock, logger, hide: secrets.hide, servers: config.mcpServers },
    version: readVersion(),
    isReserved: (name) => ownSpellings.has(spellingOf(name)),
  });
  const registry = new ToolRegistry({
    askEach,
    providers: [...own, ...mcpServers],
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
    nameOf: (clientId) => devices.list.ofClient(clientId)?.name,
    deviceIdOf: (clientId) => devices.list.ofClient(clientId)?.deviceId,
    left(instance) {
      devices.list.seen(instance.clientId);
      notifications.left(instance);
    },
  });
  devices.list.onChange(({ clientId }) => table.namesChanged(clientId));
  return { breaker, delegation, runTools, askEach, registry, table, mcpServers };
}

/** Of the configuration, and the scripted one. */
const openModels = (config: Config, clock: Clock) =>
  new Models({
    ...config.providers,
    defaultModel: config.model,
    rehearsal: createRehearsalModel({ clock, paceMs: REHEARSAL_PACE_MS }),
    ...{ settings: config.models, clock },
  });

/** The policy, the calls, and the runs that make some of them. */
async function createServices(
  config: Config,
  record: OpenedRecord,
  tools: Awaited<ReturnType<typeof createTools>>,
) {
  const { store, bus, clock, newId, tokens, secrets, blobs, notifications } = record;
  const { logger, tracing } = record;
  const { registry, breaker, delegation, runTools, askEach, table, mcpServers } = tools;
  const { prices, agent: ofAgent } = config.file;
  const { announceCall, announceRun } = notifications.outbox;
  const ofRuns = {
    ...{ store, bus, clock, newId, prices, secrets, logger },
    ...{ spans: tracing, announce: announceRun },
  };
  const { policy, hooks, ...policies } = await openPolicy(config, {
    ...{ store, bus, registry, clock, logger, rootOf: delegation.rootOf, hide: secrets.hide },
    tokens,
    readPolicy: (file) => readFile(file).policy,
  });
  const { claimed } = policies;
  const known = new KnownRuns({ ...ofRuns, claimed, maxSteps: ofAgent.max_steps });
  const callMetrics = createCallMetrics();
  const calls = createCalls({
    ...{ store, bus, registry, breaker, clock, logger },
    ...{ ...policy.forCalls, results: hooks, callers: tokens, blobs, secrets },
    ...{ rootOf: delegation.rootOf, isTracing: tracing.isOn, approvals: config.file.approvals },
    newCallId: () => newId('tc'),
    callMadeAt: (id) => timeOfNewId('tc', id),
    claimRun: known.claim,
    announce: announceCall,
    facts: table.facts,
    onDurable(call, previous) {
      publishApproval(bus, call, previous);
      callMetrics.observe(call, previous);
      if (call.completedAt !== null) for (const server of mcpServers) server.callEnded(call.id);
      tracing.observe(call, previous);
      logCall(logger, call, previous);
    },
  });
  askEach.connect({ calls, registry, facts: table.facts });
  notifications.connect({ calls, clients: table });
  tokens.onRevoked((id) => void calls.ownerRevoked(id).catch(logger.error));
  const models = openModels(config, clock);
  const agent = createAgent({
    ...{ calls, registry: delegation.offering(registry) },
    ...{ clock, logger, denialOf: policy.denialOf, ...agentLimits(ofAgent), spans: tracing },
    images: { readBlob: (id) => blobs.read(id), scaleForModel: (bytes) => scaleForModel(bytes) },
  });
  const runs = new AgentRuns({
    ...{ ...ofRuns, known, calls, agent, models, owners: tokens },
    ...{ offersTools: table.offersTools, subAgent: delegation.settingsOf },
  });
  const fileText = textOfFile(record);
  runTools.connect({ calls, runs, registry: delegation.offering(registry), fileText });
  delegation.connect({ runs, known, registry, models, owners: tokens });
  // A title is text of a person: before it is cut, what is secret goes.
  const claimRun: ClaimRun = (runId, title, principal) =>
    known.claim(runId, secrets.hide(title), principal);
  return { policy, policies, calls, callMetrics, models, runs, claimRun };
}

/** Of a file that is text, without what is secret. */
const textOfFile =
  ({ blobs, secrets }: OpenedRecord) =>
  async ({ blob_id: id }: Attachment): Promise<string | undefined> => {
    const blob = await blobs.read(id);
    return blob && secrets.hide(new TextDecoder().decode(blob.bytes));
  };

/** The parts in the middle: the record, who connects to it, and the agent. What a crash cut goes on. */
export async function createCore(config: Config, { env, ...options }: CoreOptions) {
  const record = await openRecord(config, options);
  const { clock, lock, operator, opened, store, bus, blobs, tokens, newId, logger } = record;
  const { audit, devices, push, tracing, notifications } = record;
  // Notes are marked by what was read before, which the policy knows, which looks tools up.
  const othersRead: ToolOptions['othersRead'] = (call) => services.policy.othersRead(call);
  const tools = await createTools(config, record, { env, othersRead });
  const { registry, table, breaker, mcpServers } = tools;
  const services = await createServices(config, record, tools);
  const { calls, runs, policies } = services;
  const alive = createAliveMark({
    file: join(config.dataDir, 'alive'),
    now: () => momentOf(clock),
    logger,
  });
  // Before calls end that a crash cut: those have their spans as any other.
  await tracing.resume();
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
  const stop = {
    ...{ alive: stopAlive, listings: listings.stop, policy: policies.stop },
    devices: devices.stop,
    mcpServers: () => Promise.all(mcpServers.map((server) => server.stop())),
    notifications: notifications.stop,
  };
  for (const server of mcpServers) server.start();
  const { models, policy, claimRun, callMetrics } = services;
  return {
    ...{ clock, lock, operator, store, bus, blobs, newId, logger, secrets: record.secrets },
    ...{ registry, table, listings, calls, models, runs, claimRun, tokens, policy },
    ...{ audit, devices, push, tracing, notifications },
    metrics: [callMetrics, ...record.metrics],
    mcpServers: new McpServers({ servers: mcpServers, audit, hide: record.secrets.hide }),
    history: { opened, retention },
    stop,
  };
}

export type Core = Awaited<ReturnType<typeof createCore>>;
