import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { WireCallRecord } from '#lib/protocol/call-record';
import { type Callboard, startCallboard } from '../../start-callboard.ts';
import { freePort } from '../../support/free-port.ts';
import type { Random } from '../random.ts';
import type { Bad, Played, TortureContext } from '../scenario.ts';
import { type Api, createApi } from '../world/api.ts';
import { checkInvariants, figuresOf } from '../world/check-invariants.ts';
import { openLines } from '../world/network-world.ts';
import type { ToxicProxy } from '../world/toxic-proxy.ts';
import { until } from '../world/until.ts';
import { type Watcher, watch } from '../world/watcher.ts';
import { createWitness } from '../world/witness.ts';
import {
  type ClientLibrary,
  createLibraryClient,
  type Effects,
  type LibraryClient,
  type LibraryClientOptions,
} from './library-client.ts';

export interface RigRest {
  readonly records: ReadonlyMap<string, WireCallRecord>;
  readonly figures: Readonly<Record<string, number>>;
}

/** A server, clients of the real library in this process, and lines between them that can be made bad. */
export interface Rig {
  /** The living server, or the last one. */
  readonly board: Callboard;
  readonly bad: Bad;
  readonly api: Api;
  readonly effects: Effects;
  readonly random: Random;
  readonly watcher: Watcher;
  /** Made, not started. */
  client(options: Omit<LibraryClientOptions, 'port'> & { port?: number }): LibraryClient;
  /** One of the lines that were asked for; each is given once. */
  line(): ToxicProxy;
  /** Ends the server, and starts it again on the same port and data. */
  killAndStart(): Promise<void>;
  startAgain(): Promise<void>;
  /**
   * Waits until all calls have ended, and checks what is promised. Answers of raw clients name nobody,
   * as those of the library's tools do.
   */
  rest(options?: {
    readonly withinMs?: number;
    readonly areAnswersNamed?: boolean;
  }): Promise<RigRest>;
}

export interface RigOptions {
  /** How many lines there are to be between clients and the server. */
  readonly lines?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** The server's configuration has it. */
  readonly policy?: object;
}

const REST_MS = 90_000;

export async function inRig(
  { build, bad, random, tempDir }: TortureContext,
  play: (rig: Rig) => Promise<Played>,
  { lines: lineCount = 0, env: more = {}, policy = {} }: RigOptions = {},
): Promise<Played> {
  // The client library of this very build, run in the harness's own process.
  const library: ClientLibrary = await import(pathToFileURL(build.libraryFile).href);
  const port = await freePort();
  const dataDir = await tempDir();
  const token = `torture-${crypto.randomUUID()}`;
  const { serverFile } = build;
  const { lines, env, close } = await openLines(lineCount, () => port, await tempDir(), {
    // No person is there to say yes to what runs call.
    policy: { unknown_effects: 'allow', ...policy },
  });
  const always = { CALLBOARD_PORT: String(port), ...env, ...more };
  const start = () => startCallboard({ dataDir, token, serverFile, env: always });
  let board = await start();
  const witness = createWitness();
  const api = createApi(board, witness);
  const effects: Effects = new Map();
  const clients: LibraryClient[] = [];
  let given = 0;
  const watcher = watch(board, bad);
  const startAgain = async () => {
    board = await start();
  };

  async function rest({ withinMs = REST_MS, areAnswersNamed = true } = {}): Promise<RigRest> {
    await until(async () => (await api.open()).length === 0, withinMs, 50);
    await sleep(150);
    const seen = {
      api,
      witness,
      shown: watcher.shown,
      clients: () => clients.map((client) => client.facts()),
      effects: () => new Map([...effects].map(([id, times]) => [id, times.length])),
    };
    const facts = await checkInvariants(seen, bad, { areAnswersNamed });
    const defects = board.log().match(/.*(?:"level":(?:50|60)|[Uu]ncaught|[Uu]nhandled).*/g) ?? [];
    for (const line of defects.slice(0, 3)) bad('HEALTH', line.slice(0, 600));
    return { records: facts.records, figures: figuresOf(facts) };
  }

  try {
    return await play({
      get board() {
        return board;
      },
      bad,
      api,
      effects,
      random,
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
      async killAndStart() {
        await board.stop('SIGKILL');
        await startAgain();
      },
      startAgain,
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
    await close();
    await board.stop('SIGKILL');
  }
}

/** A number that the server tells of itself. */
export async function metric({ board }: Pick<Rig, 'board'>, name: string): Promise<number> {
  const { body } = await board.http('GET', '/metrics');
  return Number(new RegExp(`^callboard_${name} (\\d+)$`, 'm').exec(String(body))?.[1]);
}
