import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ZodError } from 'zod';
import { StoreDamagedError } from '../../server/store/store-errors.ts';
import { differencesOfRebuilt } from '../../server/store/testing/rebuilt-differs.ts';
import { type Build, buildVariant } from './build-variant.ts';
import { FULL_CYCLES, type TortureOptions } from './options.ts';
import type { Patch } from './patch.ts';
import { createRandom } from './random.ts';
import type { Bad, Outcome, Played, Scenario, Violation } from './scenario.ts';

export interface ScenarioRun {
  readonly id: string;
  readonly name: string;
  readonly outcome: Outcome;
  readonly seconds: number;
}

/** A short run takes up to a minute: one whose server is gone could otherwise wait for ever. */
const SHORT_RUN_LIMIT_MS = 8 * 60_000;

/** Runs one scenario in a folder of its own. An error in it is a violation: nothing may just stop. */
export async function runScenario(
  scenario: Scenario,
  options: Pick<TortureOptions, 'seed' | 'cycles' | 'isShort'> & {
    /** The build that it runs on when nothing is to be changed. */
    readonly original: Build;
    /** A guard to be taken out. */
    readonly withoutGuard?: readonly Patch[];
    readonly chromium: string | undefined;
    say(line: string): void;
    /** A run without one is waited for to its end: the long run takes hours by plan. */
    readonly limitMs?: number;
  },
): Promise<ScenarioRun> {
  const startedAt = performance.now();
  const dirs: string[] = [];
  const share = options.cycles / FULL_CYCLES;
  const { isShort, original, withoutGuard = [] } = options;
  const patches = [...withoutGuard, ...(scenario.patches?.({ isShort }) ?? [])];
  const build = patches.length === 0 ? original : await buildVariant('variant', patches);
  const violations: Violation[] = [];
  const bad: Bad = (invariant, detail) => void violations.push({ invariant, detail });
  const stopped = (error: unknown): Played => {
    bad(...(error instanceof ZodError ? notOfProtocol(error) : notGoneOn(error)));
    return { figures: {}, summary: 'stopped before its end' };
  };
  const run = scenario
    .run({
      random: createRandom(`${options.seed}/${scenario.id}`),
      build,
      rounds: ({ full, short }) => (isShort ? short : Math.max(1, Math.round(full * share))),
      isShort,
      chromium: options.chromium,
      async tempDir() {
        const dir = await mkdtemp(join(tmpdir(), 'callboard-torture-'));
        dirs.push(dir);
        return dir;
      },
      say: (line) => options.say(`${scenario.id}: ${line}`),
      bad,
      violations,
    })
    .catch(stopped);
  const limitMs = options.limitMs ?? (isShort ? SHORT_RUN_LIMIT_MS : undefined);
  const played = limitMs === undefined ? await run : await endedWithin(run, limitMs, stopped);
  // The scenario itself tells what a guard that is out has done.
  const rebuilt = withoutGuard.length > 0 ? 0 : await checkRebuilt(dirs, bad);
  const figures = rebuilt === 0 ? played.figures : { ...played.figures, rebuilt };
  const outcome = { ...played, figures, violations };
  if (build !== original) await build.remove();
  // A browser that was killed may still write to its profile.
  const all = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 };
  await Promise.all(dirs.map((dir) => rm(dir, all)));
  const seconds = (performance.now() - startedAt) / 1000;
  return { id: scenario.id, name: scenario.name, outcome, seconds };
}

/**
 * The log is the truth: what is made from it alone is what the stores that are left answer. Gives how
 * many were made anew.
 */
async function checkRebuilt(dirs: readonly string[], bad: Bad): Promise<number> {
  let rebuilt = 0;
  for (const dataDir of dirs.flatMap(dataDirsIn)) {
    const differences = await differencesOfRebuilt(dataDir).catch(unlessDamaged);
    if (!differences) continue;
    rebuilt += 1;
    if (differences.length === 0) continue;
    const detail = `${differences.length} answers differ once the store is rebuilt: ${differences[0]}`;
    bad('I16', detail.slice(0, MOST_DETAIL));
  }
  return rebuilt;
}

const MOST_DETAIL = 2_000;

const dataDirsIn = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true }).flatMap(({ name, parentPath }) =>
    name === 'callboard.db' ? [parentPath] : [],
  );

/** A store that a scenario has damaged is left as it is. */
function unlessDamaged(error: unknown): string[] | undefined {
  return error instanceof StoreDamagedError ? undefined : [String(error)];
}

async function endedWithin(
  run: Promise<Played>,
  limitMs: number,
  stopped: (error: Error) => Played,
): Promise<Played> {
  const limit = new AbortController();
  const tooLong = sleep(limitMs, undefined, { signal: limit.signal }).then(() =>
    stopped(new Error(`it was not at its end after ${limitMs / 1_000} s`)),
  );
  // A run that ends in time stops the clock, which is an error of the clock alone.
  return Promise.race([run, tooLong.catch(() => run)]).finally(() => limit.abort());
}

/** Schemas are held against nothing but what the server says. */
function notOfProtocol(error: ZodError): Parameters<Bad> {
  const places = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  const said = places.slice(0, 3).join('; ');
  const reader = /\S+\/e2e\/\S+/.exec(error.stack ?? '')?.[0] ?? 'the rig';
  return ['HEALTH', `the server said what is not of the protocol, at ${said} (read at ${reader})`];
}

const notGoneOn = (error: unknown): Parameters<Bad> => [
  'RUN',
  `The run stopped: ${error instanceof Error ? (error.stack ?? error.message) : error}`,
];
