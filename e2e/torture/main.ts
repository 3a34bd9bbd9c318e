/**
 * `npm run torture`: breaks the real thing in every way of the plan, and checks
 * after each what is promised. Everything follows from the seed.
 *
 *   npm run torture                          the long run; brings docs/reliability.md up to date
 *   npm run torture -- --only F01,F03,model  some of it, at full length; the rest of the page stays
 *   npm run torture -- --seed S --cycles N   the same choices again, N rounds of kill -9
 *   npm run torture -- --short               what `npm test` runs of it, about a minute
 *   npm run torture -- --mutant "no fsync"   only the mutants whose names have these words
 *
 * With fewer cycles than the plan's, --short or --mutant, nothing is written.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Semaphore } from '#lib/limits/semaphore';
import { failureLines, testsOfTorture, totalsLine } from '../../server/bootstrap/reports.mjs';
import { describeMachine } from '../support/describe-machine.ts';
import { type Build, buildVariant } from './build-variant.ts';
import { checkModel } from './check-model.ts';
import { keepCompiled } from './compile-cache.ts';
import { MUTANTS } from './mutants/all-mutants.ts';
import type { Mutant } from './mutants/mutant.ts';
import { FULL_CYCLES, readOptions, type TortureOptions } from './options.ts';
import { keepReport, type ModelRun, type MutantRun, type TortureReport } from './report.ts';
import { runScenario, type ScenarioRun } from './run-scenario.ts';
import type { Scenario } from './scenario.ts';
import { SCENARIOS } from './scenarios/all-scenarios.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const say = (line: string) => void process.stderr.write(`${line}\n`);
const chromium = process.env.CALLBOARD_CHROMIUM;
const SHORT_LANES = 3;

/**
 * The long run has the machine for one thing at a time, so that its times mean
 * something. The short one looks at what holds, not at how fast, and much of it
 * waits: mutants begin while the last scenarios still run.
 */
function createLanes({ isShort }: TortureOptions): <R>(work: () => Promise<R>) => Promise<R> {
  const lanes = new Semaphore({ atOnce: isShort ? SHORT_LANES : 1 });
  return async (work) => {
    const turn = Promise.withResolvers<void>();
    const leave = lanes.enter(turn.resolve);
    try {
      await turn.promise;
      return await work();
    } finally {
      leave();
    }
  };
}

interface Setting extends TortureOptions {
  readonly inLane: ReturnType<typeof createLanes>;
  readonly commit: string;
  /** The sources as they are. */
  readonly original: Build;
}

function runAll(options: Setting): Promise<ScenarioRun[]> {
  const wanted = SCENARIOS.filter((scenario) => isWantedScenario(scenario, options));
  const runs = wanted.map((scenario) =>
    options.inLane(async () => {
      say(`${scenario.id} ${scenario.name}`);
      const run = await runScenario(scenario, { ...options, chromium, say });
      printRun(run, options);
      return run;
    }),
  );
  return Promise.all(runs);
}

function isWantedScenario({ id, inShort }: Scenario, { only, mutant, isShort }: TortureOptions) {
  if (mutant !== undefined) return false;
  return only.length > 0 ? only.includes(id) : inShort === true || !isShort;
}

function isWantedMutant(one: Mutant, options: TortureOptions) {
  if (options.mutant !== undefined) return one.name.includes(options.mutant);
  return isWantedScenario(scenarioOf(one), options) && (one.inShort || !options.isShort);
}

function scenarioOf({ name, scenario }: Mutant): Scenario {
  const found = SCENARIOS.find(({ id }) => id === scenario);
  if (!found) throw new Error(`${name} has the unknown scenario ${scenario}`);
  return found;
}

function printRun({ id, outcome, seconds }: ScenarioRun, { seed, cycles, commit }: Setting) {
  const isGood = outcome.violations.length === 0;
  console.log(`${isGood ? 'ok' : 'BROKEN'} ${id} (${seconds.toFixed(1)} s): ${outcome.summary}`);
  if (outcome.notDone) console.log(`  not done: ${outcome.notDone}`);
  for (const { invariant, detail } of outcome.violations.slice(0, 20)) {
    console.log(`  ${invariant}: ${detail}`);
  }
  if (isGood) return;
  console.log(
    `  again, at commit ${commit}: npm run torture -- --seed ${seed} --cycles ${cycles} --only ${id}`,
  );
}

function runMutants(options: Setting): Promise<MutantRun[]> {
  const wanted = MUTANTS.filter((mutant) => isWantedMutant(mutant, options));
  const runs = wanted.map((mutant) =>
    options.inLane(async () => {
      say(`mutant: ${mutant.name} (${mutant.scenario})`);
      const run = await runMutant(mutant, options);
      const verdict = run.isKilled ? 'killed' : 'SURVIVED';
      console.log(
        `${verdict} (${run.seconds.toFixed(1)} s): ${run.name}: ${run.seen.slice(0, 200)}`,
      );
      return run;
    }),
  );
  return Promise.all(runs);
}

/** One run: a guard that the scenario meets by chance alone is not guarded by it. */
async function runMutant(mutant: Mutant, options: Setting): Promise<MutantRun> {
  const { name, breaks, patches } = mutant;
  const scenario = scenarioOf(mutant);
  const setting = { ...options, isShort: true, withoutGuard: patches, chromium, say: () => {} };
  const { outcome, seconds } = await runScenario(scenario, setting);
  const sign = outcome.violations.find(({ invariant }) => invariant === breaks);
  const [first] = outcome.violations;
  // It proves nothing of the guard.
  if (first && /ended with \S+ at its start/.test(first.detail)) {
    throw new Error(`the mutant "${name}" does not even start: ${first.detail}`);
  }
  const other = first && `${breaks} held; ${first.invariant}: ${first.detail}`;
  return {
    name,
    scenario: scenario.id,
    isKilled: sign !== undefined,
    seconds,
    seen: sign ? `${sign.invariant}: ${sign.detail}` : (other ?? outcome.notDone ?? 'nothing'),
  };
}

/** In the short run the tests of the model have done it. */
function runModel({ isShort, only, mutant }: Setting): ModelRun | undefined {
  const isWanted = only.length > 0 ? only.includes('model') : !isShort;
  if (!isWanted || mutant !== undefined) return undefined;
  const model = checkModel();
  console.log(model.summary);
  return model;
}

async function readCommit(): Promise<string> {
  const git = (...args: string[]) => promisify(execFile)('git', args, { cwd: ROOT });
  try {
    const [{ stdout: commit }, { stdout: changes }] = await Promise.all([
      git('rev-parse', '--short', 'HEAD'),
      git('status', '--porcelain', '--', 'lib', 'server', 'e2e'),
    ]);
    return commit.trim() + (changes === '' ? '' : ' with changes');
  } catch {
    return 'unknown (no git here)';
  }
}

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2), {
    newSeed: () => randomBytes(4).toString('hex'),
    scenarios: [...SCENARIOS.map(({ id }) => id), 'model'],
    mutants: MUTANTS.map(({ name }) => name),
  });
  const commit = await readCommit();
  console.log(`seed ${options.seed}, commit ${commit}, ${options.cycles} cycles`);
  const original = await buildVariant('original');
  const setting = { ...options, commit, original, inLane: createLanes(options) };
  // The long run also measures how long a start takes.
  const compiled = options.isShort ? await keepCompiled(original) : undefined;
  const model = runModel(setting);
  const [scenarios, mutants] = await Promise.all([runAll(setting), runMutants(setting)]);
  await Promise.all([setting.original.remove(), compiled?.remove()]);
  const killed = mutants.filter(({ isKilled }) => isKilled).length;
  console.log(`${mutants.length} mutants, ${killed} killed`);
  const report: TortureReport = {
    date: new Date().toISOString(),
    seed: options.seed,
    commit,
    cycles: options.cycles,
    machine: describeMachine(),
    scenarios,
    mutants,
    model,
  };
  if (!options.isShort && options.mutant === undefined && options.cycles >= FULL_CYCLES) {
    await keepReport(join(ROOT, 'docs'), report, {
      scenarios: SCENARIOS.map(({ id }) => id),
      mutants: MUTANTS.map(({ name }) => name),
    });
  }
  if (options.report === undefined) console.log(JSON.stringify(report));
  else await writeFile(options.report, JSON.stringify(report));
  const tests = testsOfTorture(report);
  const failures = failureLines(tests);
  for (const line of failures) console.log(line);
  console.log(`torture: ${totalsLine(tests)}`);
  return failures.length > 0 ? 1 : 0;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
