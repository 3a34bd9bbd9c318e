import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuild } from './build.mjs';
import { ensurePrograms } from './machine.mjs';
import { BOOTSTRAP, packageProgram, ROOT, say } from './project.mjs';
import {
  failureLines,
  testsOfPlaywright,
  testsOfTorture,
  testsOfVitest,
  totalsLine,
} from './reports.mjs';
import { runChild, wasTold } from './run-child.mjs';
import { QUIET_NODE } from './run-server.mjs';

/**
 * @typedef {import('./project.mjs').Setup} Setup
 * @typedef {import('./reports.mjs').Test} Test
 *
 * @typedef {object} Check
 * @property {string} name
 * @property {readonly string[]} [needs] the programs of the machine that its tests start; `build` is the built server
 * @property {(setup: Setup) => Promise<{ ok: boolean, tests: readonly Test[] }>} run
 */

/**
 * Each of them prints only what is wrong, so that they run side by side: each has parts that keep
 * one core busy alone.
 *
 * @type {readonly Check[]}
 */
const STATIC_CHECKS = [
  {
    name: 'lock',
    run: (setup) => runQuietly(setup, join(BOOTSTRAP, 'complete-lock.mjs'), '--check'),
  },
  { name: 'types', run: checkTypes },
  {
    name: 'lint',
    run: (setup) =>
      runQuietly(setup, packageProgram('@biomejs/biome/bin/biome'), 'check', '--error-on-warnings'),
  },
  {
    name: 'dead code',
    run: (setup) => runQuietly(setup, packageProgram('knip/bin/knip.js'), '--no-progress'),
  },
];

/** @type {readonly Check[]} */
const TEST_STAGES = [
  {
    name: 'unit tests',
    needs: ['chromium'],
    run: (setup) =>
      withReport(testsOfVitest, (report) =>
        inMemory(setup, (env) =>
          succeeds({ ...setup, env }, packageProgram('vitest/vitest.mjs'), [
            'run',
            '--reporter=default',
            '--reporter=json',
            `--outputFile.json=${report}`,
          ]),
        ),
      ),
  },
  {
    name: 'end-to-end tests',
    needs: ['build', 'chromium', 'curl', 'python'],
    run: (setup) =>
      withReport(testsOfPlaywright, (report) =>
        inMemory(setup, (env) =>
          succeeds(
            { ...setup, env: { ...env, PLAYWRIGHT_JSON_OUTPUT_FILE: report } },
            packageProgram('@playwright/test/cli.js'),
            ['test', '--reporter=list,json'],
          ),
        ),
      ),
  },
  {
    // Crashes, power cuts, broken disks and networks, for about three minutes.
    name: 'short torture',
    needs: ['build', 'chromium', 'compiler'],
    run: (setup) =>
      withReport(testsOfTorture, (report) =>
        succeeds(setup, QUIET_NODE, [
          join(ROOT, 'e2e', 'torture', 'main.ts'),
          '--short',
          '--report',
          report,
        ]),
      ),
  },
];

/** Runs types, lint and what else needs no running. @param {Setup} setup */
export async function runStaticChecks(setup) {
  const tests = await Promise.all(STATIC_CHECKS.map((check) => runCheck(check, setup, [])));
  return tellOutcome(tests.flat());
}

/**
 * Runs everything, to the end even when something fails early: one run tells all there is to mend.
 * It ends with what failed and why, once more, and a line of totals that CI reads.
 *
 * What the stages need is ensured before the first of them, so that none finds a machine that a
 * later one would have made ready. A stage without what it needs fails; the others run.
 *
 * @param {Setup} setup
 */
export async function runAllChecks(setup) {
  const { setup: ready, missing } = await ensureNeeds(setup);
  const checks = await Promise.all(STATIC_CHECKS.map((check) => runCheck(check, ready, missing)));
  for (const stage of TEST_STAGES) checks.push(await runCheck(stage, ready, missing));
  const tests = checks.flat();
  const code = tellOutcome(tests);
  process.stdout.write(`${totalsLine(tests)}\n`);
  return code;
}

/** @param {Setup} setup */
async function ensureNeeds(setup) {
  const problem = await ensureBuild(setup);
  if (problem !== undefined) say(problem);
  endIfTold();
  const machine = await ensurePrograms(setup);
  endIfTold();
  return problem === undefined ? machine : { ...machine, missing: ['build', ...machine.missing] };
}

/** @param {readonly Test[]} tests */
function tellOutcome(tests) {
  const lines = failureLines(tests);
  for (const line of lines) process.stdout.write(`${line}\n`);
  say(lines.length === 0 ? 'all checks passed.' : 'some checks failed.');
  return lines.length === 0 ? 0 : 1;
}

/**
 * A check that fails and lists no failure is itself one, so that a line of totals never looks
 * better than the exit code.
 *
 * @param {Check} check
 * @param {Setup} setup
 * @param {readonly string[]} missing
 * @returns {Promise<readonly Test[]>}
 */
export async function runCheck({ name, needs = [], run }, setup, missing) {
  const lacks = needs.filter((need) => missing.includes(need));
  if (lacks.length > 0) return [{ name, why: `not run without ${lacks.join(', ')}` }];
  say(`${name} …`);
  const start = performance.now();
  const { ok, tests } = await run(setup);
  endIfTold();
  say(`${name}: ${Math.round((performance.now() - start) / 1_000)} s`);
  const named = tests.map((test) => ({ ...test, name: `${name}: ${test.name}` }));
  if (ok || tests.some(({ why }) => why !== undefined)) return named;
  return [...named, { name, why: 'it ended with an error; its output is above' }];
}

/**
 * Next writes the types of routes and style sheets that the compiler needs; without a build, or
 * after a page has gone, they are missing or stale.
 *
 * @param {Setup} setup
 */
async function checkTypes(setup) {
  const prepared = await runQuietly(setup, packageProgram('next/dist/bin/next'), 'typegen');
  if (!prepared.ok) return prepared;
  const args = ['--noEmit', '--project', '.', '--tsBuildInfoFile', LAST_TYPES];
  if (isOlderThanTexts(LAST_TYPES)) rmSync(LAST_TYPES, { force: true });
  return runQuietly(setup, packageProgram('typescript/bin/tsc'), ...args);
}

/** The compiler keeps here what it found, for the next check. */
const LAST_TYPES = join(ROOT, 'types.tsbuildinfo');

/**
 * TypeScript 7.0 goes on with its old findings about what imports a JSON file after that file changed, so
 * with texts that changed it starts anew.
 *
 * @param {string} file
 */
function isOlderThanTexts(file) {
  const texts = join(ROOT, 'lib', 'i18n', 'messages');
  const madeAt = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return readdirSync(texts, { recursive: true }).some(
    (name) => statSync(join(texts, String(name))).mtimeMs > madeAt,
  );
}

/** Tests were seen to fill 100 MiB; Chromium has its shared memory there, too, and tests need memory as well. */
const MEMORY_DISK = { folder: '/dev/shm', room: 2 * 1024 ** 3, spareMemory: 4 * 1024 ** 3 };

/**
 * Gives tests that are not about what a disk keeps over a power cut a folder in memory for their
 * temporary files, where there is room: they wait for a disk some ten thousand times.
 *
 * They start some hundreds of servers and threads, each of which would compile the same files: a
 * third of the time that such a start takes. So what is compiled is kept.
 *
 * @param {Setup} setup
 * @param {(env: import('./project.mjs').Environment) => Promise<boolean>} run
 */
export async function inMemory({ env }, run, { folder, room, spareMemory } = MEMORY_DISK) {
  const NODE_COMPILE_CACHE = join(ROOT, 'node_modules', '.cache', 'callboard-compiled');
  const disk = existsSync(folder) ? statfsSync(folder) : { bavail: 0, bsize: 0 };
  const hasRoom = disk.bavail * disk.bsize >= room && process.availableMemory() >= spareMemory;
  if (env.TMPDIR !== undefined || !hasRoom) return run({ ...env, NODE_COMPILE_CACHE });
  const TMPDIR = mkdtempSync(join(folder, 'callboard-tests-'));
  const drop = () => rmSync(TMPDIR, { recursive: true, force: true });
  // The checks may be cut short: this is memory that nothing else would free.
  process.once('exit', drop);
  const ok = await run({ ...env, NODE_COMPILE_CACHE, TMPDIR });
  process.off('exit', drop);
  drop();
  return ok;
}

/**
 * Runs tests that leave a report, and reads it. One that never came to be says nothing passed.
 *
 * @param {(report: any) => readonly Test[]} testsIn
 * @param {(reportFile: string) => Promise<boolean>} run
 */
async function withReport(testsIn, run) {
  const folder = mkdtempSync(join(tmpdir(), 'callboard-report-'));
  const file = join(folder, 'report.json');
  const ok = await run(file);
  const tests = existsSync(file) ? testsIn(JSON.parse(readFileSync(file, 'utf8'))) : [];
  rmSync(folder, { recursive: true });
  return { ok, tests };
}

/** @param {Setup} setup @param {string} file @param {readonly string[]} args */
async function succeeds({ node, env }, file, args) {
  return (await runChild({ command: node, args: [file, ...args], env, cwd: ROOT })).code === 0;
}

/**
 * Runs a program that is quick and prints nothing but what is wrong. Its first line is the reason.
 *
 * @param {Setup} setup @param {string} file @param {readonly string[]} args
 */
async function runQuietly({ node, env }, file, ...args) {
  const child = { command: node, args: [file, ...args], env, cwd: ROOT };
  const { code, output } = await runChild({ ...child, output: 'keep' });
  if (code === 0) return { ok: true, tests: [] };
  process.stderr.write(output);
  const why = output.split('\n').find((line) => line.trim() !== '') ?? `it ended with ${code}`;
  return { ok: false, tests: [{ name: 'first problem', why }] };
}

/** The checks that are left are not wanted once the launcher was asked to end. */
function endIfTold() {
  if (wasTold()) process.exit(1);
}
