import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectEcho } from './bench/echo-client.ts';
import { expect, test } from './fixtures.ts';
import type { Callboard } from './start-callboard.ts';

const CALLS = 50;
const COUNTER = new URL('support/count-work.mjs', import.meta.url).href;

/**
 * What one plain call may make the whole server do, its words in the index included, which may
 * come later. It is lowered with the work, and raised with a reason.
 */
const BUDGET = {
  ...{ promises: 69, texts: 8, parsed: 4, hashes: 1, messages: 2 },
  ...{ rows: 5, commits: 2 },
};
/** The reads of the main thread alone: a read there stops everybody. */
const MAIN_BUDGET = { reads: 0 };

type Sums = Record<keyof typeof BUDGET | keyof typeof MAIN_BUDGET, number>;

/** The sums of each thread, at the signal of that number. */
async function sumsAt({ pid }: Callboard, dir: string, signal: number): Promise<Map<string, Sums>> {
  const threads = (await readdir(dir)).flatMap((file) => /^0-(\w+)\.json$/.exec(file)?.[1] ?? []);
  process.kill(pid, 'SIGUSR2');
  const sums = new Map<string, Sums>();
  for (const thread of threads) {
    const file = join(dir, `${signal}-${thread}.json`);
    await expect.poll(() => readFile(file, 'utf8').catch(() => '')).not.toBe('');
    sums.set(thread, JSON.parse(await readFile(file, 'utf8')));
  }
  return sums;
}

test('a plain call makes the server do no more than its budget', async ({ startServer }) => {
  const dir = await mkdtemp(join(tmpdir(), 'callboard-work-'));
  const env = { NODE_OPTIONS: `--import=${COUNTER}`, COUNT_WORK_DIR: dir };
  const callboard = await startServer({ env });
  const client = await connectEcho(`${callboard.url.replace('http', 'ws')}/ws/client`, {
    kind: 'plain',
    token: callboard.token,
  });
  const call = async () => {
    const body = { run_id: 'run_work', args: { text: 'x'.repeat(200) }, wait_ms: 60_000 };
    const answer = await callboard.http('POST', '/v1/tools/echo/invoke', body);
    expect(answer).toMatchObject({ status: 200, body: { status: 'SUCCEEDED' } });
  };
  await call();
  const before = await sumsAt(callboard, dir, 1);
  for (let count = 0; count < CALLS; count += 1) await call();
  const after = await sumsAt(callboard, dir, 2);
  const perCall = (name: keyof Sums, threads: readonly string[]) => {
    const more = threads.map(
      (thread) => (after.get(thread)?.[name] ?? 0) - (before.get(thread)?.[name] ?? 0),
    );
    return Math.floor(more.reduce((sum, one) => sum + one, 0) / CALLS);
  };
  const work = Object.entries(BUDGET).map(
    ([name, most]) => [name, perCall(name as keyof Sums, [...after.keys()]), most] as const,
  );
  work.push(['reads', perCall('reads', ['main']), MAIN_BUDGET.reads]);
  expect(work.filter(([, count, most]) => count > most)).toEqual([]);
  client.close();
  await rm(dir, { recursive: true, force: true });
});
