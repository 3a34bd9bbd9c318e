import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { ROOT } from './project.mjs';

/**
 * A test that ran or should have. One that failed has the first reason.
 *
 * @typedef {{ name: string, why?: string | undefined }} Test
 */

/** The end of the output is all that some CI keeps, so the list has to fit there. */
const MAX_LISTED = 60;
const MAX_WHY = 300;

/**
 * Reads Vitest's JSON report. A file that does not load, or whose hooks fail, is one failure.
 *
 * @param {{ testResults: readonly {
 *   name: string, status: string, message?: string,
 *   assertionResults: readonly { fullName: string, status: string, failureMessages?: readonly string[] | null }[],
 * }[] }} report
 * @returns {Test[]}
 */
export function testsOfVitest({ testResults }) {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(ROOT, name).replaceAll('\\', '/');
    const tests = assertionResults
      .filter((one) => one.status === 'passed' || one.status === 'failed')
      .map((one) => ({
        name: `${file} › ${one.fullName}`,
        why: one.status === 'failed' ? (one.failureMessages?.[0] ?? 'failed') : undefined,
      }));
    if (status !== 'failed' || tests.some(({ why }) => why !== undefined)) return tests;
    return [...tests, { name: file, why: message || 'failed outside of its tests' }];
  });
}

/**
 * A suite of Playwright's JSON report is a file, or a group in one.
 *
 * @typedef {object} PlaywrightSuite
 * @property {readonly PlaywrightSuite[]} [suites]
 * @property {readonly { title: string, file: string, line: number, tests: readonly {
 *   status: string, expectedStatus: string, results: readonly { error?: { message?: string } }[],
 * }[] }[]} [specs]
 */

/**
 * Reads Playwright's JSON report. A test that needed a second try counts as failed, and so does one
 * that did not run though it should have. An error outside of tests is one failure.
 *
 * @param {{ suites: readonly PlaywrightSuite[], errors: readonly { message?: string }[] }} report
 * @returns {Test[]}
 */
export function testsOfPlaywright({ suites, errors }) {
  /** @param {PlaywrightSuite} suite @returns {Test[]} */
  const testsOf = ({ suites: inner = [], specs = [] }) => [
    ...specs.flatMap(({ title, file, line, tests }) =>
      tests
        .filter(({ expectedStatus }) => expectedStatus !== 'skipped')
        .map(({ status, results }) => {
          const error = results.find((result) => result.error)?.error?.message;
          const why = error ?? (status === 'skipped' ? 'did not run' : status);
          const name = `e2e/${file}:${line} › ${title}`;
          return status === 'expected' ? { name } : { name, why };
        }),
    ),
    ...inner.flatMap(testsOf),
  ];
  const outside = errors.map(({ message }) => ({ name: 'outside of tests', why: message ?? '' }));
  return [...suites.flatMap(testsOf), ...outside];
}

/**
 * Reads a torture's report. A scenario that could not be done on the machine is no pass. The model
 * check is one test: the real rules broke nothing, and each broken design did.
 *
 * @param {{
 *   scenarios: readonly { id: string, name: string, outcome: { notDone?: string, violations: readonly { invariant: string, detail: string }[] } }[],
 *   mutants: readonly { name: string, scenario: string, isKilled: boolean, seen: string }[],
 *   model?: { violations: number, summary: string, broken: readonly { name: string, hasCounterExample: boolean }[] } | undefined,
 * }} report
 * @returns {Test[]}
 */
export function testsOfTorture({ scenarios, mutants, model }) {
  const done = scenarios
    .filter(({ outcome }) => outcome.notDone === undefined || outcome.violations.length > 0)
    .map(({ id, name, outcome: { violations } }) => {
      const [first] = violations;
      const why = first && `${first.invariant}: ${first.detail} (of ${violations.length})`;
      return { name: `${id} ${name}`, why };
    });
  const killed = mutants.map(({ name, scenario, isKilled, seen }) => ({
    name: `mutant: ${name} (${scenario})`,
    why: isKilled ? undefined : `survived; seen: ${seen}`,
  }));
  if (model === undefined) return [...done, ...killed];
  const missed = model.broken.find((one) => !one.hasCounterExample);
  const broke = model.violations > 0 ? model.summary : undefined;
  const why = broke ?? (missed && `no counter-example was found for ${missed.name}`);
  return [...done, ...killed, { name: 'model', why }];
}

/**
 * Lists failures for the end of the output: one line each, without colours, and no longer than its place.
 *
 * @param {readonly Test[]} tests
 */
export function failureLines(tests) {
  const failed = tests.filter(({ why }) => why !== undefined);
  const lines = failed
    .slice(0, MAX_LISTED)
    .map(({ name, why = '' }) => `FAILED ${oneLine(name)}: ${oneLine(why)}`);
  const left = failed.length - lines.length;
  return left === 0 ? lines : [...lines, `FAILED … and ${left} more`];
}

/** @param {string} text */
const oneLine = (text) =>
  stripVTControlCharacters(text).replace(/\s+/g, ' ').trim().slice(0, MAX_WHY);

/** The last line, which people and CI read. @param {readonly Test[]} tests */
export function totalsLine(tests) {
  const failed = tests.filter(({ why }) => why !== undefined).length;
  return `${tests.length - failed} passed, ${failed} failed`;
}
