import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BOOTSTRAP, packageProgram, ROOT, say } from './project.mjs';
import { runChild } from './run-child.mjs';
import { QUIET_NODE } from './run-server.mjs';
import { ensureNeeds } from './stage-needs.mjs';
import {
  NO_TESTS,
  playwrightTotals,
  sumUp,
  tortureTotals,
  totalsLine,
  vitestTotals,
} from './totals.mjs';

/**
 * @typedef {import('./project.mjs').Setup} Setup
 * @typedef {import('./totals.mjs').Totals} Totals
 *
 * @typedef {object} Check
 * @property {string} name
 * @property {readonly import('./stage-needs.mjs').Need[]} needs what has to be there before it runs
 * @property {(setup: Setup) => Promise<boolean | Totals & { ok: boolean }>} run
 */

/** @type {readonly Check[]} */
const STATIC_CHECKS = [
  {
    name: 'lock',
    needs: [],
    run: (setup) => succeeds(setup, join(BOOTSTRAP, 'complete-lock.mjs'), ['--check']),
  },
  { name: 'types', needs: [], run: checkTypes },
  {
    name: 'lint',
    needs: [],
    run: (setup) => runs(setup, '@biomejs/biome/bin/biome', ['check', '--error-on-warnings']),
  },
  {
    name: 'dead code',
    needs: [],
    run: (setup) => runs(setup, 'knip/bin/knip.js', ['--no-progress']),
  },
];

/** @type {readonly Check[]} */
export const ALL_CHECKS = [
  ...STATIC_CHECKS,
  { name: 'unit tests', needs: ['chromium'], run: runUnitTests },
  { name: 'end-to-end tests', needs: ['build', 'chromium', 'curl'], run: runEndToEndTests },
  { name: 'short torture', needs: ['build', 'chromium', 'compiler'], run: runShortTorture },
];

/** Types, lint and what else needs no running. @param {Setup} setup */
export const runStaticChecks = async (setup) => (await runAll(STATIC_CHECKS, setup)).code;

/**
 * Everything, to the end even when something fails early: one run tells all there is to mend. Ends
 * with a line of totals that CI reads.
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
  for (const check of checks) {
    const { ok, ...totals } = await runOne(check, ready, missing);
    outcomes.push({ name: check.name, ok, totals });
  }
  const failed = outcomes.filter(({ ok }) => !ok).map(({ name }) => name);
  say(failed.length === 0 ? 'all checks passed.' : `failed: ${failed.join(', ')}.`);
  return { code: failed.length === 0 ? 0 : 1, totals: sumUp(outcomes) };
}

/**
 * @param {Check} check
 * @param {Setup} setup
 * @param {readonly import('./stage-needs.mjs').Need[]} missing
 * @returns {Promise<Totals & { ok: boolean }>}
 */
async function runOne({ name, needs, run }, setup, missing) {
  const lacks = needs.filter((need) => missing.includes(need));
  if (lacks.length > 0) {
    say(`${name}: not run without ${lacks.join(', ')} (the reason is above).`);
    return { ok: false, ...NO_TESTS };
  }
  say(`${name} …`);
  const start = performance.now();
  const outcome = await run(setup);
  say(`${name}: ${Math.round((performance.now() - start) / 1_000)} s`);
  return typeof outcome === 'boolean' ? { ok: outcome, ...NO_TESTS } : outcome;
}

/**
 * Next writes the types of routes and style sheets that the compiler needs; without a build, or
 * after a page has gone, they are missing or stale.
 *
 * @param {Setup} setup
 */
async function checkTypes(setup) {
  const quiet = await runChild({
    command: setup.node,
    args: [packageProgram('next/dist/bin/next'), 'typegen'],
    env: setup.env,
    cwd: ROOT,
    output: 'keep',
  });
  if (quiet.code !== 0) process.stderr.write(quiet.output);
  return (
    quiet.code === 0 && (await runs(setup, 'typescript/bin/tsc', ['--noEmit', '--project', '.']))
  );
}

/** @param {Setup} setup */
function runUnitTests(setup) {
  return withReport(vitestTotals, (report) => {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    return runs(withCompileCache(setup), 'vitest/vitest.mjs', ['run', ...reporters]);
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

/** @param {Setup} setup */
function runEndToEndTests(setup) {
  return withReport(playwrightTotals, (report) => {
    const { env, ...rest } = withCompileCache(setup);
    const withFile = { ...rest, env: { ...env, PLAYWRIGHT_JSON_OUTPUT_FILE: report } };
    return runs(withFile, '@playwright/test/cli.js', ['test', '--reporter=list,json']);
  });
}

/** Crashes, power cuts, broken disks and networks, for about three minutes. @param {Setup} setup */
function runShortTorture(setup) {
  const program = join(ROOT, 'e2e', 'torture', 'main.ts');
  return withReport(tortureTotals, (report) =>
    succeeds(setup, QUIET_NODE, [program, '--short', '--report', report]),
  );
}

/**
 * Runs tests that leave a report, and reads it. One that never came to be says nothing passed.
 *
 * @template R
 * @param {(report: R) => Totals} totalsOf
 * @param {(reportFile: string) => Promise<boolean>} run
 */
async function withReport(totalsOf, run) {
  const folder = mkdtempSync(join(tmpdir(), 'callboard-report-'));
  const file = join(folder, 'report.json');
  const ok = await run(file);
  const totals = existsSync(file) ? totalsOf(JSON.parse(readFileSync(file, 'utf8'))) : NO_TESTS;
  rmSync(folder, { recursive: true });
  return { ok, ...totals };
}

/** @param {Setup} setup @param {string} program inside `node_modules` @param {readonly string[]} args */
const runs = (setup, program, args) => succeeds(setup, packageProgram(program), args);

/** @param {Setup} setup @param {string} file @param {readonly string[]} args */
async function succeeds({ node, env }, file, args) {
  const { code, told } = await runChild({ command: node, args: [file, ...args], env, cwd: ROOT });
  // Asked to end: the checks that are left are not wanted any more.
  if (told) process.exit(code === 0 ? 1 : code);
  return code === 0;
}
