import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './project.mjs';
import { failureLines, playwrightFailures, tortureFailures, vitestFailures } from './reports.mjs';

/** A file of Vitest's report. */
const file = (status: string, message: string, ...tests: [string, string, string?][]) => ({
  name: join(ROOT, 'lib', 'a.test.ts'),
  status,
  message,
  assertionResults: tests.map(([fullName, state, why]) => ({
    fullName,
    status: state,
    failureMessages: why === undefined ? [] : [why],
  })),
});

test('a unit test that failed is listed by its file and name with the first reason', () => {
  const testResults = [
    file('failed', '', ['adds', 'passed'], ['takes away', 'failed', 'expected 1 to be 2']),
    file('passed', '', ['holds', 'passed']),
  ];
  expect(failureLines(vitestFailures({ testResults }))).toEqual([
    'FAILED lib/a.test.ts › takes away: expected 1 to be 2',
  ]);
});

test('a file of unit tests that does not load is listed with the reason', () => {
  const testResults = [file('failed', 'Cannot find module x', ['adds', 'skipped'])];
  expect(failureLines(vitestFailures({ testResults }))).toEqual([
    'FAILED lib/a.test.ts: Cannot find module x',
  ]);
});

/** A test of Playwright's report; each result is the message of its error. */
const spec = (title: string, status: string, ...results: (string | undefined)[]) => ({
  title,
  file: 'a.spec.ts',
  line: 7,
  tests: [
    {
      status,
      expectedStatus: 'passed',
      results: results.map((message) => (message === undefined ? {} : { error: { message } })),
    },
  ],
});

test('browser tests are listed that failed, needed a second try or did not run', () => {
  const inner = { specs: [spec('waits', 'skipped'), spec('shows', 'expected', undefined)] };
  const suites = [
    { suites: [inner], specs: [spec('opens', 'unexpected', 'Error: no page', 'Error: again')] },
    { specs: [spec('closes', 'flaky', 'Error: too late', undefined)] },
  ];
  expect(
    failureLines(playwrightFailures({ suites, errors: [{ message: 'no such file' }] })),
  ).toEqual([
    'FAILED e2e/a.spec.ts:7 › opens: Error: no page',
    'FAILED e2e/a.spec.ts:7 › waits: did not run',
    'FAILED e2e/a.spec.ts:7 › closes: Error: too late',
    'FAILED outside of tests: no such file',
  ]);
});

test('scenarios, mutants and the model of a torture are listed with what broke first', () => {
  const violation = (invariant: string) => ({ invariant, detail: `seen ${invariant}` });
  const scenario = (id: string, ...broken: string[]) => ({
    id,
    name: 'kill -9',
    outcome: { violations: broken.map(violation) },
  });
  const mutant = (name: string, isKilled: boolean) => ({
    name,
    scenario: 'F02',
    isKilled,
    seen: 'nothing',
  });
  const report = {
    scenarios: [scenario('F01', 'I4', 'I6'), scenario('F02'), scenario('F03', 'RUN')],
    mutants: [mutant('no fsync', false), mutant('no lock', true)],
    model: {
      violations: 1,
      summary: '9 states: 1 violations.\nI2 broke\nand more',
      broken: [
        { name: 'no grant', hasCounterExample: false },
        { name: 'no fence', hasCounterExample: true },
      ],
    },
  };
  expect(failureLines(tortureFailures(report))).toEqual([
    'FAILED F01 kill -9 (first of 2 violations): I4: seen I4',
    'FAILED F03 kill -9: RUN: seen RUN',
    'FAILED mutant: no fsync (F02): survived; seen: nothing',
    'FAILED model: 9 states: 1 violations. I2 broke',
    'FAILED model: no grant: no counter-example was found',
  ]);
});

test('a reason takes one line without colours, and the list has an end', () => {
  const long = { name: 'a\n b', why: `\u001b[31mred\u001b[39m\n  ${'x'.repeat(1_000)}` };
  const lines = failureLines(Array.from({ length: 70 }, () => long));
  expect(lines[0]).toBe(`FAILED a b: red ${'x'.repeat(295)}…`);
  expect(lines).toHaveLength(61);
  expect(lines.at(-1)).toBe('FAILED … and 10 more');
});
