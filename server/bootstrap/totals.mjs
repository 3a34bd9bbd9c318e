/**
 * @typedef {{ passed: number, failed: number }} Totals
 */

/** @type {Totals} */
export const NO_TESTS = { passed: 0, failed: 0 };

/**
 * The totals of Vitest's JSON report.
 *
 * @param {{ numPassedTests: number, numFailedTests: number }} report
 * @returns {Totals}
 */
export const vitestTotals = (report) => ({
  passed: report.numPassedTests,
  failed: report.numFailedTests,
});

/**
 * The totals of Playwright's JSON report. A test that needed a second try counts as failed.
 *
 * @param {{ stats: { expected: number, unexpected: number, flaky: number } }} report
 * @returns {Totals}
 */
export const playwrightTotals = ({ stats }) => ({
  passed: stats.expected,
  failed: stats.unexpected + stats.flaky,
});

/**
 * The totals of a torture's report: each scenario in which all held, and each mutant that was killed.
 *
 * @param {{ scenarios: readonly { outcome: { violations: readonly unknown[] } }[], mutants: readonly { isKilled: boolean }[] }} report
 * @returns {Totals}
 */
export function tortureTotals({ scenarios, mutants }) {
  const held = scenarios.filter(({ outcome }) => outcome.violations.length === 0).length;
  const killed = mutants.filter(({ isKilled }) => isKilled).length;
  const all = scenarios.length + mutants.length;
  return { passed: held + killed, failed: all - held - killed };
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
