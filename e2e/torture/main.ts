/**
 * `npm run torture`: breaks the real thing in every way of the plan, and checks
 * after each what is promised. Everything follows from the seed.
 *
 *   npm run torture                          the long run; brings docs/reliability.md up to date
 *   npm run torture -- --only F01,F03,model  some of it, at full length; the rest of the page stays
 *   npm run torture -- --seed S --cycles N   the same choices again, N rounds of kill -9
 *   npm run torture -- --short               what `npm test` runs, three minutes at most
 *
 * With fewer cycles than the plan's, or --short, nothing is written.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describeMachine } from '../support/describe-machine.ts';
import { buildVariant } from './build-variant.ts';
import { checkModel } from './check-model.ts';
import { keepReport } from './keep-report.ts';
import { MUTANTS } from './mutants/all-mutants.ts';
import type { Mutant } from './mutants/mutant.ts';
import { FULL_CYCLES, readOptions, type TortureOptions } from './options.ts';
import type { MutantRun, TortureReport } from './report.ts';
import { runScenario, type ScenarioRun } from './run-scenario.ts';
import type { Outcome, Scenario } from './scenario.ts';
import { SCENARIOS } from './scenarios/all-scenarios.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const say = (line: string) => void process.stderr.write(`${line}\n`);
const chromium = process.env.CALLBOARD_CHROMIUM;
const SHORT_LANES = 2;
const MUTANT_TRIES = 3;

async function runAll(options: TortureOptions, commit: string): Promise<ScenarioRun[]> {
  const build = await buildVariant('original');
  const wanted = SCENARIOS.filter(({ id }) => isWanted(id, options));
  const runs = await inLanes(wanted, options, async (scenario) => {
    say(`${scenario.id} ${scenario.name}`);
    const run = await runScenario(scenario, { ...options, build, chromium, say });
    tell(run, options, commit);
    return run;
  });
  await build.remove();
  return runs;
}

const isWanted = (id: string, { only }: TortureOptions) => only.length === 0 || only.includes(id);

/**
 * The long run has the machine for one thing at a time, so that its times mean
 * something. The short one looks at what holds, not at how fast, and much of it waits.
 */
async function inLanes<T, R>(
  items: readonly T[],
  { isShort }: TortureOptions,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = [...items.entries()];
  const lane = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const [at, item] = next;
      results[at] = await work(item);
    }
  };
  await Promise.all(Array.from({ length: isShort ? SHORT_LANES : 1 }, lane));
  return results;
}

function tell({ id, outcome, seconds }: ScenarioRun, { seed, cycles }: TortureOptions, at: string) {
  const isGood = outcome.violations.length === 0;
  console.log(`${isGood ? 'ok' : 'BROKEN'} ${id} (${seconds.toFixed(1)} s): ${outcome.summary}`);
  if (outcome.notDone) console.log(`  not done: ${outcome.notDone}`);
  for (const { invariant, detail } of outcome.violations.slice(0, 20)) {
    console.log(`  ${invariant}: ${detail}`);
  }
  if (isGood) return;
  console.log(
    `  again, at commit ${at}: npm run torture -- --seed ${seed} --cycles ${cycles} --only ${id}`,
  );
}

async function runMutants(options: TortureOptions): Promise<MutantRun[]> {
  const wanted = MUTANTS.filter(
    (mutant) => isWanted(mutant.scenario, options) && (mutant.inShort || !options.isShort),
  );
  return inLanes(wanted, options, async (mutant) => {
    const scenario = SCENARIOS.find(({ id }) => id === mutant.scenario);
    if (!scenario) throw new Error(`${mutant.name} names ${mutant.scenario}, which is no scenario`);
    say(`mutant: ${mutant.name} (${mutant.scenario})`);
    const run = await runMutant(mutant, scenario, options);
    const how = run.tries === 1 ? '' : ` (by try ${run.tries})`;
    const verdict = run.isKilled ? `killed${how}` : 'SURVIVED';
    console.log(`${verdict}: ${run.name}: ${run.seen.slice(0, 200)}`);
    return run;
  });
}

/**
 * A short run meets the moment in which the guard counts most of the time, and
 * not always: it has three tries, each of other moments.
 */
async function runMutant(
  { name, patches }: Mutant,
  scenario: Scenario,
  options: TortureOptions,
): Promise<MutantRun> {
  const build = await buildVariant('mutant', patches);
  let tries = 0;
  let outcome: Outcome;
  do {
    tries += 1;
    const seed = tries === 1 ? options.seed : `${options.seed}/${tries}`;
    const setting = { ...options, seed, isShort: true, build, chromium, say: () => {} };
    ({ outcome } = await runScenario(scenario, setting));
  } while (
    outcome.violations.length === 0 &&
    outcome.notDone === undefined &&
    tries < MUTANT_TRIES
  );
  await build.remove();
  const [first] = outcome.violations;
  // It proves nothing of the guard.
  if (first && /ended with \S+ at its start/.test(first.detail)) {
    throw new Error(`the mutant "${name}" does not even start: ${first.detail}`);
  }
  return {
    name,
    scenario: scenario.id,
    isKilled: first !== undefined,
    tries,
    seen: first ? `${first.invariant}: ${first.detail}` : (outcome.notDone ?? 'nothing'),
  };
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
  const options = readOptions(process.argv.slice(2), () => randomBytes(4).toString('hex'));
  const commit = await readCommit();
  console.log(`seed ${options.seed}, commit ${commit}, ${options.cycles} cycles`);
  const wantsModel = options.only.length === 0 || options.only.includes('model');
  const model = wantsModel ? checkModel({ isShort: options.isShort }) : undefined;
  if (model) console.log(model.summary);
  const scenarios = await runAll(options, commit);
  const mutants = await runMutants(options);
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
  if (!options.isShort && options.cycles >= FULL_CYCLES) {
    await keepReport(join(ROOT, 'docs'), report, {
      scenarios: SCENARIOS.map(({ id }) => id),
      mutants: MUTANTS.map(({ name }) => name),
    });
  }
  if (options.report === undefined) console.log(JSON.stringify(report));
  else await writeFile(options.report, JSON.stringify(report));
  const broken = scenarios.filter(({ outcome }) => outcome.violations.length > 0).length;
  const passed = scenarios.length - broken + killed;
  console.log(`torture: ${passed} passed, ${broken + mutants.length - killed} failed`);
  const modelFails =
    model && (model.violations > 0 || model.broken.some((one) => !one.hasCounterExample));
  return broken > 0 || killed < mutants.length || modelFails ? 1 : 0;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
