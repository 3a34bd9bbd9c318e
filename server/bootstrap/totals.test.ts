import { expect, test } from 'vitest';
import { playwrightTotals, sumUp, tortureTotals, totalsLine, vitestTotals } from './totals.mjs';

test('adds the tests of all steps', () => {
  const steps = [
    { ok: true, totals: vitestTotals({ numPassedTests: 40, numFailedTests: 0 }) },
    { ok: false, totals: playwrightTotals({ stats: { expected: 5, unexpected: 2, flaky: 1 } }) },
  ];
  expect(totalsLine(sumUp(steps))).toBe('45 passed, 3 failed');
});

test('a scenario with a violation and a mutant that lived are failures of a torture', () => {
  const scenario = (violations: readonly string[]) => ({ outcome: { violations } });
  const report = {
    scenarios: [scenario([]), scenario(['I1', 'I2']), scenario([])],
    mutants: [{ isKilled: true }, { isKilled: false }],
  };
  expect(tortureTotals(report)).toEqual({ passed: 3, failed: 2 });
});

test('a step that failed without a failed test still counts as a failure', () => {
  const broken = { ok: false, totals: { passed: 7, failed: 0 } };
  const types = { ok: false, totals: { passed: 0, failed: 0 } };
  expect(sumUp([broken, types])).toEqual({ passed: 7, failed: 2 });
});

test('a step that passed without tests adds nothing', () => {
  expect(sumUp([{ ok: true, totals: { passed: 0, failed: 0 } }])).toEqual({ passed: 0, failed: 0 });
});
