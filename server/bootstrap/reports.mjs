import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { ROOT } from './project.mjs';

/**
 * One thing that failed, and the first reason for it.
 *
 * @typedef {{ name: string, why: string }} Failure
 */

/** The end of the output is all that some CI keeps, so the list has to fit there. */
const MAX_LISTED = 60;
const MAX_WHY = 300;

/**
 * The failures of Vitest's JSON report, by file and test. A file that did not load, or whose hooks
 * failed, is one; a test of it that did not run for that is no failure of its own here.
 *
 * @param {{ testResults: readonly {
 *   name: string, status: string, message?: string,
 *   assertionResults: readonly { fullName: string, status: string, failureMessages?: readonly string[] | null }[],
 * }[] }} report
 * @returns {Failure[]}
 */
export function vitestFailures({ testResults }) {
  return testResults
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name, message, assertionResults }) => {
      const file = fromRoot(name);
      const failed = assertionResults.filter(({ status }) => status === 'failed');
      if (failed.length === 0)
        return [{ name: file, why: message || 'failed outside of its tests' }];
      return failed.map(({ fullName, failureMessages }) => ({
        name: `${file} › ${fullName}`,
        why: failureMessages?.[0] ?? 'no reason is in the report',
      }));
    });
}

/**
 * A suite of Playwright's JSON report: a file, or a group in one.
 *
 * @typedef {{ status: string, expectedStatus: string, results: readonly { error?: { message?: string } }[] }} PlaywrightTest
 * @typedef {object} PlaywrightSuite
 * @property {readonly PlaywrightSuite[]} [suites]
 * @property {readonly { title: string, file: string, line: number, tests: readonly PlaywrightTest[] }[]} [specs]
 */

/**
 * The failures of Playwright's JSON report: each test that did not pass at its first try though it
 * should have, and each error outside of tests.
 *
 * @param {{ suites: readonly PlaywrightSuite[], errors: readonly { message?: string }[] }} report
 * @returns {Failure[]}
 */
export function playwrightFailures({ suites, errors }) {
  const failed = suites.flatMap(testsOf).filter(({ status }) => status !== 'expected');
  return [
    ...failed.map(({ name, status, results }) => {
      const first = results.find(({ error }) => error !== undefined)?.error?.message;
      return { name, why: first ?? (status === 'skipped' ? 'did not run' : status) };
    }),
    ...errors.map(({ message }) => ({ name: 'outside of tests', why: message ?? 'no reason' })),
  ];
}

/**
 * The failures of a torture's report: scenarios with violations, mutants that lived, and the model.
 *
 * @param {{
 *   scenarios: readonly { id: string, name: string, outcome: { violations: readonly { invariant: string, detail: string }[] } }[],
 *   mutants: readonly { name: string, scenario: string, isKilled: boolean, seen: string }[],
 *   model?: { violations: number, summary: string, broken: readonly { name: string, hasCounterExample: boolean }[] } | undefined,
 * }} report
 * @returns {Failure[]}
 */
export function tortureFailures({ scenarios, mutants, model }) {
  return [
    ...scenarios.flatMap(({ id, name, outcome: { violations } }) => {
      const [first] = violations;
      if (first === undefined) return [];
      const more = violations.length > 1 ? ` (first of ${violations.length} violations)` : '';
      return [{ name: `${id} ${name}${more}`, why: `${first.invariant}: ${first.detail}` }];
    }),
    ...mutants
      .filter(({ isKilled }) => !isKilled)
      .map(({ name, scenario, seen }) => ({
        name: `mutant: ${name} (${scenario})`,
        why: `survived; seen: ${seen}`,
      })),
    ...(model ? modelFailures(model) : []),
  ];
}

/**
 * @param {{ violations: number, summary: string, broken: readonly { name: string, hasCounterExample: boolean }[] }} model
 * @returns {Failure[]}
 */
function modelFailures({ violations, summary, broken }) {
  const missed = broken.filter((one) => !one.hasCounterExample);
  return [
    ...(violations > 0 ? [{ name: 'model', why: summary.split('\n').slice(0, 2).join(' ') }] : []),
    ...missed.map(({ name }) => ({ name: `model: ${name}`, why: 'no counter-example was found' })),
  ];
}

/**
 * The list for the end of the output: one line each, without colours, and no longer than its place.
 *
 * @param {readonly Failure[]} failures
 * @returns {string[]}
 */
export function failureLines(failures) {
  const lines = failures
    .slice(0, MAX_LISTED)
    .map(({ name, why }) => `FAILED ${oneLine(name)}: ${oneLine(why)}`);
  const left = failures.length - lines.length;
  return left === 0 ? lines : [...lines, `FAILED … and ${left} more`];
}

/** @param {string} text */
function oneLine(text) {
  const line = stripVTControlCharacters(text).replace(/\s+/g, ' ').trim();
  return line.length > MAX_WHY ? `${line.slice(0, MAX_WHY - 1)}…` : line;
}

/** @param {string} path */
const fromRoot = (path) => relative(ROOT, path).replaceAll('\\', '/');

/**
 * @typedef {{ passed: number, failed: number }} Totals
 */

/** @type {Totals} */
export const NO_TESTS = { passed: 0, failed: 0 };

/**
 * The totals of Vitest's JSON report. A file fails for more than its tests: it does not load, or
 * what it does before or after them goes wrong. What it skipped then did not run for that, so it
 * counts as failed, and such a file counts as one failure at least.
 *
 * @param {{ testResults: readonly { status: string, assertionResults: readonly { status: string }[] }[] }} report
 * @returns {Totals}
 */
export function vitestTotals({ testResults }) {
  let { passed, failed } = NO_TESTS;
  for (const { status: file, assertionResults } of testResults) {
    /** @param {string[]} wanted */
    const count = (...wanted) =>
      assertionResults.filter(({ status }) => wanted.includes(status)).length;
    passed += count('passed');
    failed += file === 'failed' ? Math.max(count('failed', 'skipped', 'pending'), 1) : 0;
  }
  return { passed, failed };
}

/**
 * The totals of Playwright's JSON report. A test that needed a second try counts as failed, and so
 * does one that did not run though it should have. An error outside of tests, such as a file that
 * does not load, is one failure.
 *
 * @param {{ suites: readonly PlaywrightSuite[], errors: readonly unknown[] }} report
 * @returns {Totals}
 */
export function playwrightTotals({ suites, errors }) {
  const tests = suites.flatMap(testsOf);
  const passed = tests.filter(({ status }) => status === 'expected').length;
  return { passed, failed: tests.length - passed + errors.length };
}

/**
 * The tests that were meant to run, with their names.
 *
 * @param {PlaywrightSuite} suite
 * @returns {readonly (PlaywrightTest & { name: string })[]}
 */
const testsOf = ({ suites = [], specs = [] }) => [
  ...specs.flatMap(({ title, file, line, tests }) =>
    tests
      .filter(({ expectedStatus }) => expectedStatus !== 'skipped')
      .map((test) => ({ ...test, name: `e2e/${file}:${line} › ${title}` })),
  ),
  ...suites.flatMap(testsOf),
];

/**
 * The totals of a torture's report. Passed: each scenario in which all held, each mutant that was
 * killed, and the model check when the real rules broke nothing and each broken design did. What
 * could not be done on the machine is no pass.
 *
 * @param {{
 *   scenarios: readonly { outcome: { violations: readonly unknown[], notDone?: string } }[],
 *   mutants: readonly { isKilled: boolean }[],
 *   model?: { violations: number, broken: readonly { hasCounterExample: boolean }[] } | undefined,
 * }} report
 * @returns {Totals}
 */
export function tortureTotals({ scenarios, mutants, model }) {
  const counted = scenarios.filter(
    ({ outcome }) => outcome.notDone === undefined || outcome.violations.length > 0,
  );
  const passes = [
    ...counted.map(({ outcome }) => outcome.violations.length === 0),
    ...mutants.map(({ isKilled }) => isKilled),
    ...(model
      ? [model.violations === 0 && model.broken.every((one) => one.hasCounterExample)]
      : []),
  ];
  const passed = passes.filter((isPass) => isPass).length;
  return { passed, failed: passes.length - passed };
}

/**
 * Sums steps up. A step that failed with no failed test to show for it (types, lint, a test file
 * that does not load) counts as one failure, so that a line of totals never looks better than the
 * exit code.
 *
 * @param {readonly { ok: boolean, totals: Totals }[]} steps
 * @returns {Totals}
 */
export function sumUp(steps) {
  let { passed, failed } = NO_TESTS;
  for (const { ok, totals } of steps) {
    passed += totals.passed;
    failed += ok ? totals.failed : Math.max(totals.failed, 1);
  }
  return { passed, failed };
}

/** The last line, for people and for CI. @param {Totals} totals */
export const totalsLine = ({ passed, failed }) => `${passed} passed, ${failed} failed`;
