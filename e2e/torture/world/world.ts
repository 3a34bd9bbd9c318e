import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WireCallRecord } from '#lib/protocol/call-record';
import type { Build } from '../build-variant.ts';
import type { ClientConfig } from '../client-program.ts';
import type { Random } from '../random.ts';
import type { Violation } from '../scenario.ts';
import { type Api, createApi } from './api.ts';
import { runCaller } from './caller.ts';
import { checkInvariants } from './check-invariants.ts';
import { checkRuns } from './check-runs.ts';
import { type ClientFacts, readClientFacts, readEffects } from './client-facts.ts';
import { type ClientProcess, createClientProcess } from './client-process.ts';
import { gatherFacts } from './gather-facts.ts';
import { intrude } from './intruder.ts';
import { type ServerProcess, startServer, takePort } from './server-process.ts';
import { watch } from './watcher.ts';
import { createWitness, type Witness } from './witness.ts';

export interface WorldOptions {
  readonly build: Build;
  readonly dir: string;
  readonly random: Random;
  readonly clients?: number;
  readonly callers?: number;
  /** The length of a call's `execute` clock. */
  readonly timeoutMs?: number;
  /** Callers wait when so many more are accepted than were waited for; without it they never do. */
  readonly callsAhead?: number;
  /** Some calls are cancelled or too slow; without it each of them has to succeed. */
  readonly troubles?: boolean;
  /** Another way to the server, or other behaviour; asked once for each client. */
  clientConfig?(config: ClientConfig): ClientConfig;
  /** For each start of the server, so that a fault may sit in one of its lives. */
  serverEnv?(): Readonly<Record<string, string>>;
  clientEnv?(client: ClientProcess): Readonly<Record<string, string>>;
}

/** The facts of all calls, once all has come to rest. */
export interface Rest {
  readonly violations: readonly Violation[];
  readonly figures: Readonly<Record<string, number>>;
  readonly records: ReadonlyMap<string, WireCallRecord>;
}

/** A server, its clients, callers and watchers, and what the harness itself saw of it. */
export interface World {
  /** The address of the server itself, whatever its clients are told. */
  readonly url: string;
  readonly token: string;
  readonly api: Api;
  readonly witness: Witness;
  readonly dataDir: string;
  readonly clients: readonly ClientProcess[];
  /** The living one, or the last. */
  readonly server: ServerProcess;
  /** Starts the server; resolves once it serves (milliseconds), or has ended before. */
  startServer(args?: readonly string[]): Promise<number | undefined>;
  startClient(client: ClientProcess): void;
  /** Callers begin, and go on until `rest`. */
  startLoad(): void;
  /** Resolves once this many more calls are accepted; false when the server ended before. */
  untilAccepted(more: number): Promise<boolean>;
  /** A turn of the built-in agent, which calls a tool; does not wait for its end. */
  startRun(): Promise<void>;
  /** Stops the load, waits until every call has ended, and checks all. */
  rest(): Promise<Rest>;
  /** Ends every process. */
  end(): Promise<void>;
}

/** The longest clocks of a call that has nobody to take it, and what the promise adds. */
const QUEUE_MS = 30_000;
const GRACE_MS = 5_000;
/** A machine under load adds this. */
const LATE_MS = 15_000;
/** A turn of the rehearsal model takes two. */
const RUNS_MS = 60_000;
/** A server that serves accepts something within this time, on any machine. */
const ACCEPT_MS = 120_000;

/** The clock that its card shows ran out, and what the promise adds is over, too. */
function isOverdue({ card }: WireCallRecord): boolean {
  const deadline = card.clock?.deadline_at ?? null;
  return deadline !== null && deadline * 1000 + GRACE_MS + LATE_MS < Date.now();
}

const sumOf = (clients: readonly ClientFacts[], of: (client: ClientFacts) => number): number =>
  clients.reduce((sum, client) => sum + of(client), 0);

/** A server that is not there cannot be asked: its last words are what is left. */
async function stopped(server: ServerProcess): Promise<Rest> {
  const { code, signal } = await server.ended;
  const detail = `the server ended with ${signal ?? code}: ${server.log().slice(-2_000)}`;
  return { violations: [{ invariant: 'HEALTH', detail }], figures: {}, records: new Map() };
}

export async function createWorld(options: WorldOptions): Promise<World> {
  const { build, dir, random, timeoutMs = 4_000, callsAhead = Infinity } = options;
  const port = await takePort();
  const token = randomBytes(24).toString('base64url');
  const url = `http://127.0.0.1:${port}`;
  const [dataDir, effectFile] = [join(dir, 'server'), join(dir, 'effects')];
  await mkdir(dataDir, { recursive: true });
  const api = createApi(url, token);
  const witness = createWitness();
  const clients = Array.from({ length: options.clients ?? 3 }, (_, index) => {
    const name = `client-${index}`;
    const [logFile, clientDir] = [join(dir, `${name}.log`), join(dir, name)];
    const config = { url, token, name, dataDir: clientDir, logFile, effectFile };
    return createClientProcess(build.clientFile, options.clientConfig?.(config) ?? config);
  });
  const socketUrl = url.replace('http', 'ws');
  const watcher = watch(`${socketUrl}/ws/watch`, token);
  const intruder = intrude(`${socketUrl}/ws/client`, token);
  watcher.onNewCall = (id) => intruder.answer(id);
  const runIds = new Set<string>();
  const restarts: number[] = [];
  let server: ServerProcess | undefined;
  let load: Promise<unknown> = Promise.resolve();
  let isStopped = false;
  let wanted = 0;

  const living = () => {
    if (!server) throw new Error('the server was never started');
    return server;
  };

  function startLoad(): void {
    const callers = Array.from({ length: options.callers ?? 8 }, (_, index) =>
      runCaller({
        api,
        witness,
        random: random.fork(`caller ${index}`),
        name: `caller-${index}`,
        timeoutMs,
        troubles: options.troubles ?? false,
        isStopped: () => isStopped,
        isAhead: () => witness.calls.size >= wanted + callsAhead,
      }),
    );
    load = Promise.all(callers);
  }

  const refusals = () =>
    [...witness.refusals].map(([what, times]) => `${times} × ${what}`).join(', ');

  async function untilAccepted(more: number): Promise<boolean> {
    const enough = witness.calls.size + more;
    wanted = enough;
    const giveUpAt = performance.now() + ACCEPT_MS;
    while (witness.calls.size < enough) {
      if (!living().isAlive) return false;
      if (performance.now() > giveUpAt) throw new Error(`nothing is accepted: ${refusals()}`);
      await sleep(5);
    }
    return true;
  }

  async function startRun(): Promise<void> {
    const answer = await api.ask('POST', '/v1/runs', {
      body: { input: 'What is 17 * 3?', model: 'rehearsal', tools: ['calculation.eval'] },
    });
    if (answer && answer.status < 300) runIds.add((answer.body as { run_id: string }).run_id);
  }

  async function untilAllEnded(): Promise<void> {
    const giveUpAt = performance.now() + QUEUE_MS + timeoutMs + GRACE_MS + LATE_MS;
    while (performance.now() < giveUpAt) {
      const open = await api.open();
      if (open.length === 0 || open.every(isOverdue)) break;
      await sleep(50);
    }
    const runsEndAt = performance.now() + RUNS_MS;
    for (const runId of runIds) {
      while (performance.now() < runsEndAt && (await isRunning(runId))) await sleep(50);
    }
  }

  async function isRunning(runId: string): Promise<boolean> {
    const answer = await api.ask('GET', `/v1/runs/${runId}`);
    return answer?.status === 200 && (answer.body as { status: string }).status === 'running';
  }

  async function rest(): Promise<Rest> {
    isStopped = true;
    await load;
    if (!living().isAlive) return stopped(living());
    const startedAt = performance.now();
    await untilAllEnded();
    // An acknowledgement may still be on its way to a client, and an event to the watcher.
    await sleep(200);
    const facts = await gatherFacts({
      ...{ api, witness, shown: watcher.shown },
      clients: () => clients.map(({ config }) => readClientFacts(config)),
      effects: () => readEffects(effectFile),
    });
    const { records, effects } = facts;
    const quiet = performance.now() - startedAt;
    const violations = [
      ...checkInvariants(facts),
      ...watcher.violations,
      ...intruder.violations,
      ...(await checkRuns(api, runIds, records)),
    ];
    const of = (test: (record: WireCallRecord) => boolean) =>
      [...records.values()].filter(test).length;
    return {
      violations,
      records,
      figures: {
        accepted: witness.calls.size,
        acknowledged: sumOf(facts.clients, ({ acknowledged }) => acknowledged.length),
        calls: records.size,
        succeeded: of(({ status }) => status === 'SUCCEEDED'),
        failed: of(({ status }) => status === 'FAILED'),
        timed_out: of(({ status }) => status === 'TIMEOUT'),
        outcome_unknown: of(({ error }) => error?.code === 'outcome_unknown'),
        executed_unknown: of(({ error }) => error?.executed === 'unknown'),
        effects: effects.size,
        rejected: sumOf(facts.clients, ({ rejected }) => rejected),
        intruder_rejected: intruder.rejected,
        runs: runIds.size,
        quiet_ms: Math.round(quiet),
        restarts: restarts.length,
        restart_ms_max: Math.round(Math.max(0, ...restarts)),
      },
    };
  }

  return {
    url,
    token,
    api,
    witness,
    dataDir,
    clients,
    get server() {
      return living();
    },
    async startServer(args) {
      const { serverFile } = build;
      const env = options.serverEnv?.();
      server = startServer({ serverFile, dataDir, port, token, env, args });
      const ms = await server.ready;
      if (ms !== undefined) restarts.push(ms);
      return ms;
    },
    startClient: (client) => client.start(options.clientEnv?.(client)),
    startLoad,
    untilAccepted,
    startRun,
    rest,
    async end() {
      isStopped = true;
      watcher.stop();
      intruder.stop();
      await Promise.all([server?.kill(), ...clients.map((client) => client.kill())]);
      await load;
    },
  };
}
