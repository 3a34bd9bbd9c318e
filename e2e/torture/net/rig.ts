import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WireCallRecord } from '#lib/protocol/call-record';
import { type Callboard, startCallboard } from '../../start-callboard.ts';
import type { Random } from '../random.ts';
import type { Outcome, TortureContext, Violation } from '../scenario.ts';
import { type Api, createApi } from '../world/api.ts';
import { checkInvariants } from '../world/check-invariants.ts';
import { gatherFacts } from '../world/gather-facts.ts';
import { takePort } from '../world/server-process.ts';
import { openToxicProxy, type ToxicProxy } from '../world/toxic-proxy.ts';
import { type Watcher, watch } from '../world/watcher.ts';
import { createWitness, type Witness } from '../world/witness.ts';
import {
  createLibraryClient,
  type Effects,
  type LibraryClient,
  type LibraryClientOptions,
} from './library-client.ts';
import { loadLibrary } from './load-library.ts';

export interface RigRest {
  readonly records: ReadonlyMap<string, WireCallRecord>;
  readonly violations: readonly Violation[];
  readonly figures: Readonly<Record<string, number>>;
}

/** A server, clients of the real library in this process, and lines between them that can be made bad. */
export interface Rig {
  /** The living server, or the last one. */
  readonly board: Callboard;
  readonly port: number;
  readonly api: Api;
  readonly witness: Witness;
  readonly effects: Effects;
  readonly random: Random;
  readonly watcher: Watcher;
  /** Made, not started. */
  client(options: Omit<LibraryClientOptions, 'port'> & { port?: number }): LibraryClient;
  /** One of the lines that were asked for; each is given once. */
  line(): ToxicProxy;
  /** Gives the call's id. Arguments get a nonce of their own. */
  invoke(tool: string, args?: object, more?: object): Promise<string>;
  /** Starts the server again on the same port and data. */
  startAgain(): Promise<void>;
  /** Waits until all calls have ended, and checks what is promised. */
  rest(options?: { readonly withinMs?: number }): Promise<RigRest>;
}

export interface RigOptions {
  /** How many lines there are to be between clients and the server. */
  readonly lines?: number;
  readonly env?: Readonly<Record<string, string>>;
}

const REST_MS = 90_000;
const LISTED_MS = 60_000;

export async function inRig(
  context: TortureContext,
  play: (rig: Rig) => Promise<Outcome>,
  { lines: lineCount = 0, env = {} }: RigOptions = {},
): Promise<Outcome> {
  const library = await loadLibrary(context.build);
  const port = await takePort();
  const dataDir = await context.tempDir();
  const token = `torture-${crypto.randomUUID()}`;
  const { serverFile } = context.build;
  const lines = await Promise.all(
    Array.from({ length: lineCount }, () => openToxicProxy(() => port)),
  );
  const configFile = join(await context.tempDir(), 'config.json');
  const hosts = lines.map((line) => `127.0.0.1:${line.port}`);
  // No person is there to say yes to what runs call.
  const policy = { unknown_effects: 'allow' };
  await writeFile(configFile, JSON.stringify({ allowed_hosts: hosts, policy }));
  const always = { CALLBOARD_PORT: String(port), CALLBOARD_CONFIG: configFile };
  const start = () => startCallboard({ dataDir, token, serverFile, env: { ...always, ...env } });
  let board = await start();
  const api = createApi(board.url, token);
  const witness = createWitness();
  const effects: Effects = new Map();
  const clients: LibraryClient[] = [];
  let given = 0;
  const watcher = watch(`${board.url.replace('http', 'ws')}/ws/watch`, token);

  async function invoke(tool: string, args: object = {}, more: object = {}): Promise<string> {
    const nonce = crypto.randomUUID();
    const answer = await api.ask('POST', `/v1/tools/${tool}/invoke`, {
      body: { run_id: 'run_torture', args: { nonce, ...args }, ...more },
    });
    if (answer?.status !== 202 && answer?.status !== 200)
      throw new Error(`invoke ${tool}: ${JSON.stringify(answer)}`);
    const { tool_call_id: id } = answer.body as { tool_call_id: string };
    witness.accepted(id, { key: nonce, tool, nonce });
    return id;
  }

  async function rest({ withinMs = REST_MS } = {}): Promise<RigRest> {
    const giveUpAt = performance.now() + withinMs;
    while ((await api.open()).length > 0 && performance.now() < giveUpAt) await sleep(50);
    await sleep(150);
    const facts = await gatherFacts({
      ...{ api, witness, shown: watcher.shown },
      clients: () => clients.map((client) => client.facts()),
      effects: () => new Map([...effects].map(([id, times]) => [id, times.length])),
    });
    const { records } = facts;
    const of = (status: string) => [...records.values()].filter((one) => one.status === status);
    return {
      records,
      violations: [...checkInvariants(facts), ...watcher.violations, ...defects(board)],
      figures: {
        calls: records.size,
        succeeded: of('SUCCEEDED').length,
        failed: of('FAILED').length,
        timed_out: of('TIMEOUT').length,
        effects: effects.size,
        acknowledged: facts.clients.reduce((sum, one) => sum + one.acknowledged.length, 0),
      },
    };
  }

  try {
    return await play({
      get board() {
        return board;
      },
      port,
      api,
      witness,
      effects,
      random: context.random,
      watcher,
      client(options) {
        const client = createLibraryClient({ library, token, effects }, { port, ...options });
        clients.push(client);
        return client;
      },
      line() {
        const line = lines[given];
        if (!line) throw new Error(`only ${lines.length} lines were asked for`);
        given += 1;
        return line;
      },
      invoke,
      async startAgain() {
        board = await start();
      },
      rest,
    });
  } catch (error) {
    const last = board.log().slice(-1_500);
    throw new Error(
      `${error instanceof Error ? error.stack : error}\nThe server's last words: ${last}`,
    );
  } finally {
    watcher.stop();
    await Promise.all(clients.map((client) => client.stop()));
    await Promise.all(lines.map((line) => line.close()));
    await board.stop('SIGKILL');
  }
}

/** The lines of the server's log on its own defects. */
function defects(board: Callboard): Violation[] {
  const lines = board
    .log()
    .split('\n')
    .filter((line) => /"level":(50|60)|[Uu]ncaught|[Uu]nhandled/.test(line));
  return lines.slice(0, 3).map((line) => ({ invariant: 'HEALTH', detail: line.slice(0, 600) }));
}

/** Calls that had to succeed and did not. */
export const mustSucceed = (
  { records }: RigRest,
  ids: Iterable<string>,
  why: string,
): Violation[] =>
  [...ids].flatMap((id) => {
    const record = records.get(id);
    if (record?.status === 'SUCCEEDED') return [];
    const error = JSON.stringify(record?.error ?? null);
    return [{ invariant: 'I6' as const, detail: `${id} ended ${record?.status} ${error}: ${why}` }];
  });

/** Resolves once `test` holds; false when it does not within `ms`. */
export async function until(
  test: () => boolean | Promise<boolean>,
  ms: number,
  everyMs = 10,
): Promise<boolean> {
  const giveUpAt = performance.now() + ms;
  while (!(await test())) {
    if (performance.now() > giveUpAt) return false;
    await sleep(everyMs);
  }
  return true;
}

/** Waits for a client that is on its way, however slow the machine is. */
export async function untilListed({ api }: Pick<Rig, 'api'>, tool: string): Promise<void> {
  const isListed = async () =>
    JSON.stringify((await api.ask('GET', '/v1/tools'))?.body ?? '').includes(`"${tool}"`);
  if (!(await until(isListed, LISTED_MS, 20))) throw new Error(`${tool} is not listed`);
}

export const percentile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
};
