import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Callboard, startCallboard } from '../start-callboard.ts';
import { clientOf, makeHistory, runOf, toolOf } from './history-store.ts';
import { median, type Ratio, ratio, round } from './stats.ts';

const CALLS = 1_000_000;
const START_MS = 3_000;
const LIST_MS = 100;
const TIMES = 5;

const run = runOf(CALLS / 2);
const [tool, client] = [toolOf(3), clientOf(7)];

/** Each filter, and those that together fit few calls or none. */
const FILTERS = [
  ...['', `run_id=${run}`, `tool=${tool}`, `client=${client}`, 'status=FAILED', 'status=SUCCEEDED'],
  ...['status=PENDING', `tool=${tool}&status=FAILED`, `tool=${tool}&client=${clientOf(8)}`],
  ...[`client=${client}&status=TIMEOUT`, `run_id=${run}&tool=${tool}&client=${client}`],
];
/** It searches for words that each call has, and for one that few have. */
const SEARCHES = ['q=berlin', 'q=777777', `q=berlin&run_id=${run}`, 'q=the+answer+to+berlin'];

/** A start, lists, searches and pages over a history of 1,000,000 calls. Takes some ten minutes. */
export async function benchHistory(): Promise<{ ratios: Ratio[]; detail: object }> {
  const parent = mkdtempSync(join(tmpdir(), 'callboard-history-'));
  const full = join(parent, 'full');
  const empty = join(parent, 'empty');
  try {
    for (const dir of [full, empty]) mkdirSync(dir, { mode: 0o700 });
    await makeHistory(join(full, 'callboard.db'), CALLS);
    // The first start reads all of it; what it leaves is a clean end.
    const first = await timedStart(full);
    await first.board.stop();
    const starts = { full: [] as number[], empty: [] as number[] };
    for (let n = 0; n < TIMES; n += 1) {
      for (const [name, dir] of [
        ['empty', empty],
        ['full', full],
      ] as const) {
        const { board, ms } = await timedStart(dir);
        if (n > 0 || name === 'full') starts[name].push(ms); // The first one makes its files.
        await board.stop();
      }
    }
    const { board } = await timedStart(full);
    try {
      const lists = await timesOf(
        board,
        FILTERS.map((query) => `/v1/tool_calls?${query}`),
      );
      const searches = await timesOf(
        board,
        SEARCHES.map((query) => `/v1/tool_calls?${query}`),
      );
      const pages = await timesOf(board, ['/v1/runs', `/v1/runs/${run}`]);
      return {
        ratios: [
          ratio('Start at 1,000,000 calls', 'ms', median(starts.full), START_MS, { atMost: 1 }),
          ratio(
            'The same, against an empty one',
            'ms',
            median(starts.full),
            median(starts.empty),
            {},
          ),
          ...[...lists, ...pages].map(([path, ms]) =>
            ratio(path, 'ms', ms, LIST_MS, { atMost: 1 }),
          ),
          ...searches.map(([path, ms]) => ratio(path, 'ms', ms, LIST_MS, {})),
        ],
        detail: { calls: CALLS, starts, afterACrashMs: round(first.ms) },
      };
    } finally {
      await board.stop();
    }
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

async function timedStart(dataDir: string): Promise<{ board: Callboard; ms: number }> {
  const begin = performance.now();
  const board = await startCallboard({ dataDir, env: { CALLBOARD_MODEL: 'rehearsal' } });
  return { board, ms: performance.now() - begin };
}

async function timesOf(
  board: Callboard,
  paths: readonly string[],
): Promise<(readonly [path: string, ms: number])[]> {
  const times: (readonly [string, number])[] = [];
  for (const path of paths) {
    const series: number[] = [];
    for (let n = 0; n < TIMES; n += 1) {
      const begin = performance.now();
      const { status } = await board.http('GET', path);
      if (status !== 200) throw new Error(`${path}: ${status}`);
      series.push(performance.now() - begin);
    }
    times.push([path, round(median(series))]);
  }
  return times;
}
