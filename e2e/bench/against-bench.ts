import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Callboard, startCallboard } from '../start-callboard.ts';
import { connectEcho } from './echo-client.ts';
import { post } from './http-calls.ts';
import { ARGS, TOOL_OF } from './kinds.ts';
import { inParallel, median, type Ratio, ratio, round, summarise } from './stats.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const BUILDS = join(ROOT, 'node_modules/.cache/callboard-bench');
const WARM_UP = 25_000;
const ROUNDS = 6;
const COUNTS = { 1: 1_000, 64: 10_000 } as const;
const THREADS = ['all', 'main', 'workers', 'V8'] as const;

const run = promisify(execFile);

type Thread = (typeof THREADS)[number];
type Figures = Record<`cpu, ${Thread}` | 'p50' | 'calls a second', number>;
/** A call that is dearer by this much has to say why. */
const DEARER = 1.03;

/**
 * A plain call by HTTP, in this build and in that of another commit, which is made from the
 * repository's own history. The processor time of each thread is the figure that a noisy machine
 * does not hide. Each round has new servers, as what a process compiles first is its luck for
 * good: 0.89 and 1.17 × were measured for the same code. Who begins alternates.
 */
export async function benchAgainst(commit: string): Promise<{ ratios: Ratio[]; detail: object }> {
  const folders = { ours: ROOT, theirs: await buildOf(commit) };
  const rounds: Record<1 | 64, Record<keyof typeof folders, Figures[]>> = {
    1: { ours: [], theirs: [] },
    64: { ours: [], theirs: [] },
  };
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    const order = turn % 2 === 0 ? (['ours', 'theirs'] as const) : (['theirs', 'ours'] as const);
    for (const who of order) {
      const side = await openSide(folders[who]);
      try {
        await side.measure(WARM_UP, 64);
        for (const inFlight of [64, 1] as const) {
          rounds[inFlight][who].push(await side.measure(COUNTS[inFlight], inFlight));
        }
      } finally {
        await side.close();
      }
    }
  }
  const ratios = ([64, 1] as const).flatMap((inFlight) => {
    const { ours, theirs } = rounds[inFlight];
    const of = (figures: readonly Figures[], name: keyof Figures) =>
      median(figures.map((one) => one[name]));
    const names: (keyof Figures)[] = [...THREADS.map((one) => `cpu, ${one}` as const), 'p50'];
    return [...names, 'calls a second' as const].map((name) => {
      const unit = name === 'calls a second' ? 'calls/s' : name === 'p50' ? 'ms' : 'µs a call';
      const goal = name === 'cpu, all' && inFlight === 64 ? { atMost: DEARER } : {};
      const title = `${inFlight} in flight: ${name} beside ${commit}`;
      return ratio(title, unit, of(ours, name), of(theirs, name), goal);
    });
  });
  return { ratios, detail: rounds };
}

async function openSide(folder: string) {
  const callboard = await startCallboard({ serverFile: join(folder, 'dist/server.mjs'), folder });
  const { token } = callboard;
  const client = await connectEcho(`${callboard.url.replace('http', 'ws')}/ws/client`, {
    ...{ kind: 'plain', token },
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const asked = {
    ...{ port: Number(new URL(callboard.url).port), token },
    path: `/v1/tools/${TOOL_OF.plain}/invoke`,
    body: JSON.stringify({ run_id: 'run_bench', args: ARGS, wait_ms: 10_000 }),
  };
  return {
    async measure(count: number, inFlight: number): Promise<Figures> {
      const before = await whenQuiet(callboard);
      const { times, perSecond } = await inParallel(count, inFlight, () => post(agent, asked));
      const after = await whenQuiet(callboard);
      const each = (thread: Thread) => round((after[thread] - before[thread]) / count / 1_000, 1);
      return {
        ...{ 'cpu, all': each('all'), 'cpu, main': each('main') },
        ...{ 'cpu, workers': each('workers'), 'cpu, V8': each('V8') },
        ...{ p50: summarise(times).p50, 'calls a second': round(perSecond, 0) },
      };
    },
    async close() {
      agent.destroy();
      client.close();
      await callboard.remove();
    },
  };
}

const KIND_OF: Readonly<Record<string, Thread>> = {
  ...{ MainThread: 'main', WorkerThread: 'workers', V8Worker: 'V8' },
};

/** Nanoseconds that the threads of a server have run; Linux counts them. */
async function processorTime({ pid }: Callboard): Promise<Record<Thread, number>> {
  const sums: Record<Thread, number> = { all: 0, main: 0, workers: 0, V8: 0 };
  const tasks = `/proc/${pid}/task`;
  for (const task of await readdir(tasks)) {
    const name = (await readFile(join(tasks, task, 'comm'), 'utf8')).trim();
    const [ran = ''] = (await readFile(join(tasks, task, 'schedstat'), 'utf8')).split(' ');
    sums.all += Number(ran);
    const kind = KIND_OF[name];
    if (kind) sums[kind] += Number(ran);
  }
  return sums;
}

/** Rows and words of ended calls are made behind them, up to a second later: these count, too. */
const BEHIND_MS = 1_500;
/** A server that does nothing else runs less than this in that time. */
const QUIET_NS = 30e6;

async function whenQuiet(callboard: Callboard): Promise<Record<Thread, number>> {
  for (let before = await processorTime(callboard); ; ) {
    await sleep(BEHIND_MS);
    const after = await processorTime(callboard);
    if (after.all - before.all < QUIET_NS) return after;
    before = after;
  }
}

/** A build is kept: it takes a minute or two. */
async function buildOf(commit: string): Promise<string> {
  const { stdout } = await run('git', ['rev-parse', '--verify', `${commit}^{commit}`], {
    cwd: ROOT,
  });
  const id = stdout.trim();
  const folder = join(BUILDS, id);
  if (existsSync(join(folder, 'dist/server.mjs'))) return folder;
  const making = `${folder}.part`;
  await rm(making, { recursive: true, force: true });
  await mkdir(BUILDS, { recursive: true });
  process.stderr.write(`Building ${id} …\n`);
  await run('git', ['clone', '--quiet', '--no-checkout', ROOT, making]);
  await run('git', ['checkout', '--quiet', id], { cwd: making });
  await run('npm', ['run', '--silent', 'build'], { cwd: making, maxBuffer: 1e8 });
  await rename(making, folder);
  return folder;
}
