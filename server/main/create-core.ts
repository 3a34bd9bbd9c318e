import { join } from 'node:path';
import { createSystemClock } from '../base/clock.ts';
import type { ServerLogger } from '../base/logger.ts';
import { createNewId, timeOfNewId } from '../base/new-id.ts';
import { readVersion, threadFile } from '../base/project.ts';
import { type Config, readFile } from './config.ts';
import { createAliveMark } from './data-dir-files.ts';
import type { Arguments } from './network.ts';
import * as rooms from './rooms.ts';

export interface CoreOptions extends Pick<Arguments, 'salvage'> {
  /** The tool `shell` passes on those of them that the configuration names. */
  readonly env: NodeJS.ProcessEnv;
  readonly logger: ServerLogger;
  onStoreFailed(error: Error): void;
}

/** Opens what is on disk, the log of what watchers see, and who may come. */
async function openRecord(config: Config, { salvage, logger, onStoreFailed }: CoreOptions) {
  const { dataDir } = config;
  const clock = createSystemClock();
  const newId = createNewId(Date.now);
  const threadOf = (built: string, source: string) => threadFile(config.development, built, source);
  const lock = await rooms.store.takeDataDir(dataDir);
  const { operator, secrets } = await rooms.auth.openOperator(config);
  const { hide } = secrets;
  logger.hide(hide);
  const metrics = rooms.telemetry.createMetrics();
  const opened = rooms.store.openStore({
    file: join(dataDir, 'callboard.db'),
    salvage,
    now: clock.now,
    workerPath: (name) => threadOf(`${name}.mjs`, `store/${name}.ts`),
    logger,
    onFailed: onStoreFailed,
    onCommitted: metrics.committed,
  });
  const { store } = opened;
  // Before anything is promised: the thread that writes is there, and the disk takes it.
  await store.write([]);
  const bus = await rooms.events.openBus({ store, logger });
  const blobs = rooms.blobs.createDiskBlobStore({ dir: join(dataDir, 'blobs'), hide });
  const base = { clock, newId, threadOf, logger, operator, secrets, hide, store, bus, blobs };
  const auth = await rooms.auth.openAuth(config, base);
  const tracing = rooms.telemetry.createTracing({
    ...base,
    config: config.traces,
    version: readVersion(),
  });
  return { ...base, ...auth, lock, opened, metrics, tracing };
}

type OpenedRecord = Awaited<ReturnType<typeof openRecord>>;

/** Opens who is here with which tools, and who learns what happens. */
async function openPresence(config: Config, record: OpenedRecord) {
  const breaker = new rooms.calls.Breaker(record);
  const instances = rooms.clients.createClientTable(record.clock.now);
  const registry = new rooms.tools.ToolRegistry({
    availability: instances.availability,
    openCircuitOf: breaker.openCircuitOf,
    hide: record.hide,
  });
  const ofDevices = { ...record, instances };
  const devices = await rooms.clients.openDevices(config.file.pairing, ofDevices);
  const { list } = devices;
  const table = rooms.clients.listClients({ table: instances, registry, breaker, devices: list });
  const push = await rooms.notices.openPush({
    ...record,
    config: config.file.push,
    dataDir: config.dataDir,
    publicUrl: config.publicUrl,
    fetch,
  });
  const notifications = await rooms.notices.openNotifications(config.notify, {
    ...record,
    clients: table,
    sources: [push.targets],
    counted: record.metrics.delivered,
    isTracing: record.tracing.isOn,
  });
  return { ...record, breaker, registry, devices, table, push, notifications };
}

type Presence = Awaited<ReturnType<typeof openPresence>>;

/** The policy, the calls and the runs that make some of them, each with its tools. */
async function openServices(config: Config, core: Presence, env: NodeJS.ProcessEnv) {
  const { registry, tokens, table, newId, bus, logger, tracing, metrics } = core;
  const { announceCall, announceRun } = core.notifications.outbox;
  const { publishApproval } = rooms.watch;
  const ofRuns = { ...core, spans: tracing, announce: announceRun };
  const known = rooms.runs.createKnownRuns(config, ofRuns);
  const { policy, hooks, ...policies } = await rooms.policy.openPolicy(config, {
    ...core,
    rootOf: known.rootOf,
    readPolicy: (file) => readFile(file).policy,
  });
  known.onClaimed(policies.claimed);
  // Notes are marked by what was read before, which the policy knows.
  const ofTools = { ...core, env, othersRead: policy.othersRead };
  registry.provide(await rooms.tools.openOwnTools(config, ofTools));
  const calls = rooms.calls.createCalls({
    ...core,
    ...policy.forCalls,
    results: hooks,
    callers: tokens,
    approvals: config.file.approvals,
    rootOf: known.rootOf,
    claimRun: known.claim,
    newCallId: () => newId('tc'),
    callMadeAt: (id) => timeOfNewId('tc', id),
    facts: table.facts,
    announce: announceCall,
    isTracing: tracing.isOn,
  });
  tokens.onRevoked((id) => void calls.ownerRevoked(id).catch(logger.error));
  calls.onDurable((call, previous) => publishApproval(bus, call, previous));
  calls.onDurable(metrics.observe);
  const runs = rooms.runs.createRuns(config, {
    ...ofRuns,
    known,
    calls,
    owners: tokens,
    denialOf: policy.denialOf,
    offersTools: table.offersTools,
  });
  const ofServers = { ...core, calls };
  const mcpServers = await rooms.mcpClient.serveMcpServers(config.mcpServers, ofServers);
  // What is off costs a call nothing.
  if (tracing.isOn) calls.onDurable(tracing.observe);
  if (logger.isDebug)
    calls.onDurable((call, previous) => rooms.telemetry.logCall(logger, call, previous));
  return { ...core, policy, policies, calls, ...runs, mcpServers };
}

/** The parts in the middle: the record, who connects to it, and the agent. What a crash cut goes on. */
export async function createCore(config: Config, options: CoreOptions) {
  const record = await openRecord(config, options);
  const presence = await openPresence(config, record);
  const core = await openServices(config, presence, options.env);
  const { clock, calls, runs, policies, mcpServers, table } = core;
  const alive = createAliveMark({
    file: join(config.dataDir, 'alive'),
    now: () => clock.moment(),
    logger: core.logger,
  });
  await calls.recover(await alive.last());
  // guard: runs-recovered
  await runs.recover();
  clock.followWallClock(() => calls.wallClockMoved());
  const stopAlive = alive.keep();
  const listings = rooms.watch.publishListings({ ...core, clients: table });
  const retention = new rooms.history.Retention({
    ...core,
    keep: config.keep,
    forgetCalls: calls.forgetEnded,
    deleteRun: (runId, work) => runs.deleteUnused(runId, policies.deleting(runId, work)),
  });
  mcpServers.start();
  return {
    ...core,
    listings,
    retention,
    stopAlive,
  };
}

export type Core = Awaited<ReturnType<typeof createCore>>;
