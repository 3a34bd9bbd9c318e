import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onMemoryDisk } from './memory-disk.mjs';
import { BOOTSTRAP, packageProgram, ROOT, say } from './project.mjs';
import {
  failureLines,
  NO_TESTS,
  playwrightFailures,
  playwrightTotals,
  sumUp,
  tortureFailures,
  tortureTotals,
  totalsLine,
  vitestFailures,
  vitestTotals,
} from './reports.mjs';
import { runChild } from './run-child.mjs';
import { QUIET_NODE } from './run-server.mjs';
import { ensureNeeds } from './stage-needs.mjs';

/**
 * @typedef {import('./project.mjs').Setup} Setup
 * @typedef {import('./reports.mjs').Totals} Totals
 * @typedef {import('./reports.mjs').Failure} Failure
 *
 * What came of a check. One that failed and lists no failure is itself listed as one.
 *
 * @typedef {Totals & { ok: boolean, failures: readonly Failure[] }} Outcome
 *
 * @typedef {object} Check
 * @property {string} name
 * @property {readonly import('./stage-needs.mjs').Need[]} needs what has to be there before it runs
 * @property {(setup: Setup) => Promise<Outcome>} run
 * @property {boolean} [isQuiet] prints only what is wrong, so that it can run beside others
 */

/** @type {readonly Check[]} */
const STATIC_CHECKS = [
  {
    name: 'lock',
    needs: [],
    isQuiet: true,
    run: (setup) => runQuietly(setup, join(BOOTSTRAP, 'complete-lock.mjs'), ['--check']),
  },
  { name: 'types', needs: [], isQuiet: true, run: checkTypes },
  {
    name: 'lint',
    needs: [],
    isQuiet: true,
    run: (setup) =>
      runQuietly(setup, packageProgram('@biomejs/biome/bin/biome'), [
        'check',
        '--error-on-warnings',
      ]),
  },
  {
    name: 'dead code',
    needs: [],
    isQuiet: true,
    run: (setup) => runQuietly(setup, packageProgram('knip/bin/knip.js'), ['--no-progress']),
  },
];

/** @type {readonly Check[]} */
export const ALL_CHECKS = [
  ...STATIC_CHECKS,
  { name: 'unit tests', needs: ['chromium'], run: runUnitTests },
  {
    name: 'end-to-end tests',
    needs: ['build', 'chromium', 'curl', 'python', 'proxies', 'browsers'],
    run: runEndToEndTests,
  },
  { name: 'short torture', needs: ['build', 'chromium', 'compiler'], run: runShortTorture },
];

/** Types, lint and what else needs no running. @param {Setup} setup */
export const runStaticChecks = async (setup) => (await runAll(STATIC_CHECKS, setup)).code;

/**
 * Everything, to the end even when something fails early: one run tells all there is to mend. Ends
 * with what failed and why, once more, and a line of totals that CI reads.
 *
 * @param {Setup} setup
 */
export async function runAllChecks(setup) {
  const { code, totals } = await runAll(ALL_CHECKS, setup);
  process.stdout.write(`${totalsLine(totals)}\n`);
  return code;
}

/**
 * Ensures what the checks need before the first of them runs, so that none of them finds a machine
 * that a later one would have made ready. A check without what it needs fails; the others run.
 *
 * @param {readonly Check[]} checks
 * @param {Setup} setup
 * @param {typeof ensureNeeds} [ensure]
 */
export async function runAll(checks, setup, ensure = ensureNeeds) {
  const needs = checks.flatMap((check) => check.needs);
  const { setup: ready, missing } = await ensure(needs, setup);
  const outcomes = [];
  for (const group of groupsOf(checks)) {
    const ended = group.map((check) => runOne(check, ready, missing));
    outcomes.push(...(await Promise.all(ended)));
  }
  const failed = outcomes.filter(({ ok }) => !ok);
  const lines = failureLines(failed.flatMap(failuresOf));
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`);
  const names = failed.map(({ name }) => name).join(', ');
  say(failed.length === 0 ? 'all checks passed.' : `failed: ${names}.`);
  return { code: failed.length === 0 ? 0 : 1, totals: sumUp(outcomes), failures: lines };
}

/**
 * The quiet ones first and side by side, as each has parts that keep one core busy alone; then each
 * of the others.
 *
 * @param {readonly Check[]} checks
 */
const groupsOf = (checks) => [
  checks.filter(({ isQuiet }) => isQuiet),
  ...checks.filter(({ isQuiet }) => !isQuiet).map((check) => [check]),
];

/** @param {{ name: string, failures: readonly Failure[] }} outcome @returns {readonly Failure[]} */
const failuresOf = ({ name, failures }) =>
  failures.length > 0
    ? failures.map((one) => ({ ...one, name: `${name}: ${one.name}` }))
    : [{ name, why: 'it ended with an error and without a report; its output is above' }];

/**
 * @param {Check} check
 * @param {Setup} setup
 * @param {readonly import('./stage-needs.mjs').Need[]} missing
 */
async function runOne({ name, needs, run }, setup, missing) {
  const lacks = needs.filter((need) => missing.includes(need));
  if (lacks.length > 0) {
    const why = `not run without ${lacks.join(', ')}`;
    say(`${name}: ${why} (the reason is above).`);
    return { name, ok: false, failures: [{ name: 'all of it', why }], totals: NO_TESTS };
  }
  say(`${name} …`);
  const start = performance.now();
  const { ok, failures, ...totals } = await run(setup);
  say(`${name}: ${Math.round((performance.now() - start) / 1_000)} s`);
  return { name, ok, failures, totals };
}

/**
 * Next writes the types of routes and style sheets that the compiler needs; without a build, or
 * after a page has gone, they are missing or stale.
 *
 * @param {Setup} setup @returns {Promise<Outcome>}
 */
async function checkTypes(setup) {
  const prepared = await runQuietly(setup, packageProgram('next/dist/bin/next'), ['typegen']);
  if (!prepared.ok) return prepared;
  return runQuietly(setup, packageProgram('typescript/bin/tsc'), ['--noEmit', '--project', '.']);
}

/** @param {Setup} setup */
function runUnitTests(setup) {
  return withReport(vitestTotals, vitestFailures, (report) => {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    return inMemory(withCompileCache(setup), (quick) =>
      runs(quick, 'vitest/vitest.mjs', ['run', ...reporters]),
    );
  });
}

/**
 * Tests start some hundreds of servers and threads, each of which would compile the same files: a
 * third of the time that such a start takes.
 *
 * @param {Setup} setup @returns {Setup}
 */
const withCompileCache = ({ env, ...setup }) => ({
  ...setup,
  env: { ...env, NODE_COMPILE_CACHE: join(ROOT, 'node_modules', '.cache', 'callboard-compiled') },
});

/**
 * Temporary files in memory, but for the torture: its power cuts and full disks are real.
 *
 * @param {Setup} setup
 * @param {(setup: Setup) => Promise<boolean>} run
 */
async function inMemory({ env, ...rest }, run) {
  const disk = onMemoryDisk(env);
  const ok = await run({ ...rest, env: disk.env });
  disk.remove();
  return ok;
}

/** @param {Setup} setup */
function runEndToEndTests(setup) {
  return withReport(playwrightTotals, playwrightFailures, (report) => {
    const { env, ...rest } = withCompileCache(setup);
    const withFile = { ...rest, env: { ...env, PLAYWRIGHT_JSON_OUTPUT_FILE: report } };
    return inMemory(withFile, (quick) =>
      runs(quick, '@playwright/test/cli.js', ['test', '--reporter=list,json']),
    );
  });
}

/** Crashes, power cuts, broken disks and networks, for about three minutes. @param {Setup} setup */
function runShortTorture(setup) {
  const program = join(ROOT, 'e2e', 'torture', 'main.ts');
  return withReport(tortureTotals, tortureFailures, (report) =>
    succeeds(setup, QUIET_NODE, [program, '--short', '--report', report]),
  );
}

/**
 * Runs tests that leave a report, and reads it. One that never came to be says nothing passed.
 *
 * @param {(report: any) => Totals} totalsOf
 * @param {(report: any) => readonly Failure[]} failuresIn
 * @param {(reportFile: string) => Promise<boolean>} run
 * @returns {Promise<Outcome>}
 */
async function withReport(totalsOf, failuresIn, run) {
  const folder = mkdtempSync(join(tmpdir(), 'callboard-report-'));
  const file = join(folder, 'report.json');
  const ok = await run(file);
  const report = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  rmSync(folder, { recursive: true });
  if (report === undefined) return { ok, failures: [], ...NO_TESTS };
  return { ok, ...totalsOf(report), failures: failuresIn(report) };
}

/** @param {Setup} setup @param {string} program inside `node_modules` @param {readonly string[]} args */
const runs = (setup, program, args) => succeeds(setup, packageProgram(program), args);

/** @param {Setup} setup @param {string} file @param {readonly string[]} args */
async function succeeds({ node, env }, file, args) {
  const { code, told } = await runChild({ command: node, args: [file, ...args], env, cwd: ROOT });
  if (told) endAsTold(code);
  return code === 0;
}

/**
 * For a program that is quick and prints nothing but what is wrong. Its first line is the reason.
 *
 * @param {Setup} setup @param {string} file @param {readonly string[]} args
 * @returns {Promise<Outcome>}
 */
async function runQuietly({ node, env }, file, args) {
  const child = { command: node, args: [file, ...args], env, cwd: ROOT };
  const { code, output, told } = await runChild({ ...child, output: 'keep' });
  if (told) endAsTold(code);
  if (code === 0) return { ok: true, failures: [], ...NO_TESTS };
  process.stderr.write(output);
  const why = output.split('\n').find((line) => line.trim() !== '') ?? `it ended with ${code}`;
  return { ok: false, failures: [{ name: 'first problem', why }], ...NO_TESTS };
}

/** The checks that are left are not wanted any more. @param {number} code */
const endAsTold = (code) => process.exit(code === 0 ? 1 : code);
