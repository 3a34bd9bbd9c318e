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
 * A suite of Playwright's JSON report: a file, or a group in one.
 *
 * @typedef {object} PlaywrightSuite
 * @property {readonly PlaywrightSuite[]} [suites]
 * @property {readonly { tests: readonly { status: string, expectedStatus: string }[] }[]} [specs]
 */

/**
 * The totals of Playwright's JSON report. A test that needed a second try counts as failed, and so
 * does one that did not run though it should have. An error outside of tests, such as a file that
 * does not load, is one failure.
 *
 * @param {{ suites: readonly PlaywrightSuite[], errors: readonly unknown[] }} report
 * @returns {Totals}
 */
export function playwrightTotals({ suites, errors }) {
  const tests = suites
    .flatMap(testsOf)
    .filter(({ expectedStatus }) => expectedStatus !== 'skipped');
  const passed = tests.filter(({ status }) => status === 'expected').length;
  return { passed, failed: tests.length - passed + errors.length };
}

/**
 * @param {PlaywrightSuite} suite
 * @returns {readonly { status: string, expectedStatus: string }[]}
 */
const testsOf = ({ suites = [], specs = [] }) => [
  ...specs.flatMap(({ tests }) => tests),
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
