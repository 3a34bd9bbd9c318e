import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WireCallRecord } from '#lib/protocol/call-record';
import { freePort } from '../../support/free-port.ts';
import type { ClientConfig } from '../client-program.ts';
import type { Bad, TortureContext } from '../scenario.ts';
import { type Api, createApi } from './api.ts';
import { runCaller } from './caller.ts';
import { checkInvariants, figuresOf } from './check-invariants.ts';
import { checkRuns } from './check-runs.ts';
import { readClientFacts, readEffects } from './client-facts.ts';
import { type ClientProcess, createClientProcess } from './client-process.ts';
import { intrude } from './intruder.ts';
import { type ServerProcess, startServer } from './server-process.ts';
import { until } from './until.ts';
import { type Watcher, watch } from './watcher.ts';
import { createWitness, type Witness } from './witness.ts';

export interface WorldOptions {
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
  readonly figures: Readonly<Record<string, number>>;
  readonly records: ReadonlyMap<string, WireCallRecord>;
}

/** A server, its clients, callers and watchers, and what the harness itself saw of it. */
export interface World {
  /** The address of the server itself, whatever its clients are told. */
  readonly url: string;
  readonly token: string;
  /** A folder of its own. */
  readonly dir: string;
  readonly dataDir: string;
  readonly bad: Bad;
  readonly api: Api;
  readonly witness: Witness;
  readonly watcher: Watcher;
  readonly clients: readonly ClientProcess[];
  /** The first client, where there is but one. */
  readonly client: ClientProcess;
  /** The living one, or the last. */
  readonly server: ServerProcess;
  /** Starts the server; resolves once it serves (milliseconds), or has ended before. */
  startServer(args?: readonly string[]): Promise<number | undefined>;
  startClient(client: ClientProcess): void;
  startClients(): void;
  /** Callers begin, and go on until `rest`. */
  startLoad(): void;
  /** Resolves once this many more calls are accepted; false when the server ended before. */
  untilAccepted(more: number): Promise<boolean>;
  /** A turn of the built-in agent, which calls a tool; does not wait for its end. */
  startRun(): Promise<void>;
  /** Stops the load, waits until every call has ended, and checks all. */
  rest(): Promise<Rest>;
}

/** The longest clocks of a call that has nobody to take it, and what the promise adds. */
const QUEUE_MS = 30_000;
const GRACE_MS = 5_000;
/** A machine under load adds this. */
const LATE_MS = 15_000;
/** A server that serves accepts something within this time, on any machine. */
const ACCEPT_MS = 120_000;

/** The clock that its card shows ran out, and what the promise adds is over, too. */
function isOverdue({ card }: WireCallRecord): boolean {
  const deadline = card.clock?.deadline_at ?? null;
  return deadline !== null && deadline * 1000 + GRACE_MS + LATE_MS < Date.now();
}

/** Runs `play` in a world of its own, whose processes end with it. */
export async function inWorld<T>(
  context: TortureContext,
  options: WorldOptions,
  play: (world: World) => Promise<T>,
): Promise<T> {
  const { world, end } = await openWorld(context, options);
  try {
    return await play(world);
  } finally {
    await end();
  }
}

async function openWorld({ build, random, bad, tempDir }: TortureContext, options: WorldOptions) {
  const { timeoutMs = 4_000, callsAhead = Infinity } = options;
  const dir = await tempDir();
  const port = await freePort();
  const token = randomBytes(24).toString('base64url');
  const url = `http://127.0.0.1:${port}`;
  const [dataDir, effectFile] = [join(dir, 'server'), join(dir, 'effects')];
  await mkdir(dataDir, { recursive: true });
  const witness = createWitness();
  const api = createApi({ url, token }, witness);
  const clients = Array.from({ length: options.clients ?? 3 }, (_, index) => {
    const name = `client-${index}`;
    const [logFile, clientDir] = [join(dir, `${name}.log`), join(dir, name)];
    const config = { url, token, name, dataDir: clientDir, logFile, effectFile };
    return createClientProcess(build.clientFile, options.clientConfig?.(config) ?? config);
  });
  const [client] = clients;
  if (!client) throw new Error('a world has a client at least');
  const watcher = watch({ url, token }, bad);
  const intruder = intrude({ url, token }, bad);
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

  async function untilAccepted(more: number): Promise<boolean> {
    wanted = witness.calls.size + more;
    const isDone = () => witness.calls.size >= wanted || !living().isAlive;
    if (await until(isDone, ACCEPT_MS)) return witness.calls.size >= wanted;
    const refusals = [...witness.refusals].map(([what, times]) => `${times} × ${what}`);
    throw new Error(`nothing is accepted: ${refusals.join(', ')}`);
  }

  async function startRun(): Promise<void> {
    const body = { input: 'What is 17 * 3?', model: 'rehearsal', tools: ['calculation.eval'] };
    // A server that is killed meanwhile gives no answer.
    const runId = await api.startRun(body).catch(() => undefined);
    if (runId !== undefined) runIds.add(runId);
  }

  async function untilAllEnded(): Promise<void> {
    await until(
      async () => (await api.open()).every(isOverdue),
      QUEUE_MS + timeoutMs + GRACE_MS + LATE_MS,
      50,
    );
    await api.untilRunsEnd(runIds);
  }

  async function rest(): Promise<Rest> {
    isStopped = true;
    await load;
    // A server that is not there cannot be asked: its last words are what is left.
    if (!living().isAlive) {
      const { code, signal } = await living().ended;
      bad('HEALTH', `the server ended with ${signal ?? code}: ${living().log().slice(-2_000)}`);
      return { figures: {}, records: new Map() };
    }
    const startedAt = performance.now();
    await untilAllEnded();
    // An acknowledgement may still be on its way to a client, and an event to the watcher.
    await sleep(200);
    const facts = await checkInvariants(
      {
        api,
        witness,
        shown: watcher.shown,
        clients: () => clients.map(({ config }) => readClientFacts(config)),
        effects: () => readEffects(effectFile),
      },
      bad,
    );
    const quiet = performance.now() - startedAt;
    await checkRuns(api, runIds, facts.records, bad);
    return {
      records: facts.records,
      figures: {
        accepted: witness.calls.size,
        ...figuresOf(facts),
        intruder_rejected: intruder.rejected,
        runs: runIds.size,
        quiet_ms: Math.round(quiet),
        restarts: restarts.length,
        restart_ms_max: Math.round(Math.max(0, ...restarts)),
      },
    };
  }

  const startClient = (one: ClientProcess) => one.start(options.clientEnv?.(one));
  const world: World = {
    url,
    token,
    dir,
    dataDir,
    bad,
    api,
    witness,
    watcher,
    clients,
    client,
    get server() {
      return living();
    },
    async startServer(args) {
      const { serverFile } = build;
      const env = options.serverEnv?.();
      const startedAt = performance.now();
      server = startServer({ serverFile, dataDir, port, token, env, args });
      if ((await server.ready) === undefined) return undefined;
      const ms = performance.now() - startedAt;
      restarts.push(ms);
      return ms;
    },
    startClient,
    startClients: () => clients.forEach(startClient),
    startLoad,
    untilAccepted,
    startRun,
    rest,
  };
  async function end(): Promise<void> {
    isStopped = true;
    watcher.stop();
    intruder.stop();
    await Promise.all([server?.end('SIGKILL'), ...clients.map((one) => one.kill())]);
    await load;
  }
  return { world, end };
}
