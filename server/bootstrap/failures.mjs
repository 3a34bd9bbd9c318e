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
 * @typedef {object} PlaywrightSuite
 * @property {readonly PlaywrightSuite[]} [suites]
 * @property {readonly {
 *   title: string, file: string, line: number,
 *   tests: readonly { status: string, expectedStatus: string, results: readonly { error?: { message?: string } }[] }[],
 * }[]} [specs]
 */

/**
 * The failures of Playwright's JSON report: each test that did not pass at its first try though it
 * should have, and each error outside of tests.
 *
 * @param {{ suites: readonly PlaywrightSuite[], errors: readonly { message?: string }[] }} report
 * @returns {Failure[]}
 */
export function playwrightFailures({ suites, errors }) {
  return [
    ...suites.flatMap(failuresOfSuite),
    ...errors.map(({ message }) => ({ name: 'outside of tests', why: message ?? 'no reason' })),
  ];
}

/** @param {PlaywrightSuite} suite @returns {Failure[]} */
function failuresOfSuite({ suites = [], specs = [] }) {
  const own = specs.flatMap(({ title, file, line, tests }) =>
    tests
      .filter(({ status, expectedStatus }) => expectedStatus !== 'skipped' && status !== 'expected')
      .map(({ status, results }) => {
        const first = results.find(({ error }) => error !== undefined)?.error?.message;
        const why = first ?? (status === 'skipped' ? 'did not run' : status);
        return { name: `e2e/${file}:${line} › ${title}`, why };
      }),
  );
  return [...own, ...suites.flatMap(failuresOfSuite)];
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
