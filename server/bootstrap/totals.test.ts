import { expect, test } from 'vitest';
import { playwrightTotals, sumUp, tortureTotals, totalsLine, vitestTotals } from './reports.mjs';

/** A file of Vitest's report. */
const file = (status: string, ...tests: string[]) => ({
  status,
  assertionResults: tests.map((test) => ({ status: test })),
});

/** A test of Playwright's report, and a file of them. */
const e2e = (status: string, expectedStatus = 'passed') => ({
  status,
  expectedStatus,
  results: [],
});
const suite = (...tests: ReturnType<typeof e2e>[]) => ({
  specs: [{ title: 'works', file: 'a.spec.ts', line: 1, tests }],
});

test('adds the tests of all steps', () => {
  const unit = vitestTotals({ testResults: [file('passed', 'passed', 'passed', 'skipped')] });
  const suites = [suite(e2e('expected'), e2e('unexpected'), e2e('flaky'))];
  const steps = [
    { ok: true, totals: unit },
    { ok: false, totals: playwrightTotals({ suites, errors: [] }) },
  ];
  expect(totalsLine(sumUp(steps))).toBe('3 passed, 2 failed');
});

test('three files that could not start count with all their 31 tests', () => {
  const away = (count: number) => file('failed', ...Array.from({ length: count }, () => 'skipped'));
  const testResults = [away(18), away(11), away(2), file('passed', 'passed')];
  expect(vitestTotals({ testResults })).toEqual({ passed: 1, failed: 31 });
});

test('a file that does not load, or fails after its tests, counts as one failure at least', () => {
  const testResults = [file('failed'), file('failed', 'passed'), file('failed', 'failed')];
  expect(vitestTotals({ testResults })).toEqual({ passed: 1, failed: 3 });
});

test('a browser test that did not run counts as failed, one that is meant to be skipped does not', () => {
  const cut = suite(e2e('unexpected'), e2e('skipped'), e2e('skipped', 'skipped'));
  const suites = [{ suites: [cut], specs: [] }, suite(e2e('expected'), e2e('skipped'))];
  expect(playwrightTotals({ suites, errors: [] })).toEqual({ passed: 1, failed: 3 });
});

test('each file of browser tests that does not load counts as one failure', () => {
  expect(playwrightTotals({ suites: [], errors: [{}, {}] })).toEqual({ passed: 0, failed: 2 });
});

test('a scenario with a violation and a mutant that lived are failures of a torture', () => {
  const report = {
    scenarios: [scenario([]), scenario(['I1', 'I2']), scenario([])],
    mutants: [{ isKilled: true }, { isKilled: false }],
  };
  expect(tortureTotals(report)).toEqual({ passed: 3, failed: 2 });
});

const scenario = (violations: readonly string[], more: { notDone?: string } = {}) => ({
  outcome: { violations, ...more },
});
const model = (violations: number, ...found: boolean[]) => ({
  violations,
  broken: found.map((hasCounterExample) => ({ hasCounterExample })),
});

test('a model check in which all held is one more that passed', () => {
  const report = { scenarios: [scenario([])], mutants: [], model: model(0, true, true) };
  expect(tortureTotals(report)).toEqual({ passed: 2, failed: 0 });
});

test('a model check that found a broken promise is a failure', () => {
  const report = { scenarios: [scenario([])], mutants: [], model: model(1, true, true) };
  expect(tortureTotals(report)).toEqual({ passed: 1, failed: 1 });
});

test('a model check without a counter-example to a broken design is a failure', () => {
  const report = { scenarios: [], mutants: [{ isKilled: true }], model: model(0, true, false) };
  expect(tortureTotals(report)).toEqual({ passed: 1, failed: 1 });
});

test('a scenario that the machine cannot run has not passed', () => {
  const report = {
    scenarios: [scenario([]), scenario([], { notDone: 'no Chromium' })],
    mutants: [],
  };
  expect(tortureTotals(report)).toEqual({ passed: 1, failed: 0 });
});

test('what went wrong in a scenario that was done in part is a failure', () => {
  const report = { scenarios: [scenario(['I1'], { notDone: 'no Chromium' })], mutants: [] };
  expect(tortureTotals(report)).toEqual({ passed: 0, failed: 1 });
});

test('a step that failed without a failed test still counts as a failure', () => {
  const broken = { ok: false, totals: { passed: 7, failed: 0 } };
  const types = { ok: false, totals: { passed: 0, failed: 0 } };
  expect(sumUp([broken, types])).toEqual({ passed: 7, failed: 2 });
});

test('a step that passed without tests adds nothing', () => {
  expect(sumUp([{ ok: true, totals: { passed: 0, failed: 0 } }])).toEqual({ passed: 0, failed: 0 });
});
