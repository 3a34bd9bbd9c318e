import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './project.mjs';
import {
  failureLines,
  testsOfPlaywright,
  testsOfTorture,
  testsOfVitest,
  totalsLine,
} from './reports.mjs';

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

test('a unit test that failed is listed with its reason, and so is a file that does not load', () => {
  const testResults = [
    file('failed', '', ['adds', 'passed'], ['takes away', 'failed', 'expected 1 to be 2']),
    file('failed', 'Cannot find module x', ['adds', 'skipped']),
    file('failed', '', ['closes', 'passed']),
  ];
  const tests = testsOfVitest({ testResults });
  expect(failureLines(tests)).toEqual([
    'FAILED lib/a.test.ts › takes away: expected 1 to be 2',
    'FAILED lib/a.test.ts: Cannot find module x',
    'FAILED lib/a.test.ts: failed outside of its tests',
  ]);
  expect(totalsLine(tests)).toBe('2 passed, 3 failed');
});

/** A test of Playwright's report; each result is the message of its error. */
const spec = (title: string, status: string, ...results: (string | undefined)[]) => ({
  title,
  file: 'a.spec.ts',
  line: 7,
  tests: [
    {
      status,
      expectedStatus: title === 'is meant to be skipped' ? 'skipped' : 'passed',
      results: results.map((message) => (message === undefined ? {} : { error: { message } })),
    },
  ],
});

test('a browser test fails that failed, needed a second try or did not run', () => {
  const inner = { specs: [spec('waits', 'skipped'), spec('shows', 'expected', undefined)] };
  const suites = [
    { suites: [inner], specs: [spec('opens', 'unexpected', 'Error: no page', 'Error: again')] },
    { specs: [spec('closes', 'flaky', 'Error: too late', undefined)] },
    { specs: [spec('is meant to be skipped', 'skipped')] },
  ];
  const tests = testsOfPlaywright({ suites, errors: [{ message: 'no such file' }] });
  expect(failureLines(tests)).toEqual([
    'FAILED e2e/a.spec.ts:7 › opens: Error: no page',
    'FAILED e2e/a.spec.ts:7 › waits: did not run',
    'FAILED e2e/a.spec.ts:7 › closes: Error: too late',
    'FAILED outside of tests: no such file',
  ]);
  expect(totalsLine(tests)).toBe('1 passed, 4 failed');
});

test('a torture fails by scenarios with violations, mutants that lived, and the model', () => {
  const scenario = (id: string, broken: readonly string[], notDone?: string) => ({
    id,
    name: 'kill -9',
    outcome: {
      violations: broken.map((invariant) => ({ invariant, detail: `seen ${invariant}` })),
      ...(notDone && { notDone }),
    },
  });
  const mutant = (name: string, isKilled: boolean) => {
    return { name, scenario: 'F02', isKilled, seen: 'nothing' };
  };
  const tests = testsOfTorture({
    scenarios: [scenario('F01', ['I4', 'I6']), scenario('F02', []), scenario('F09', [], 'no disk')],
    mutants: [mutant('no fsync', false), mutant('no lock', true)],
    model: {
      violations: 0,
      summary: '9 states',
      broken: [{ name: 'no grant', hasCounterExample: false }],
    },
  });
  expect(failureLines(tests)).toEqual([
    'FAILED F01 kill -9: I4: seen I4 (of 2)',
    'FAILED mutant: no fsync (F02): survived; seen: nothing',
    'FAILED model: no counter-example was found for no grant',
  ]);
  expect(totalsLine(tests)).toBe('2 passed, 3 failed');
});

test('a reason takes one line without colours, and the list has an end', () => {
  const long = { name: 'a\n b', why: `\u001b[31mred\u001b[39m\n  ${'x'.repeat(1_000)}` };
  const lines = failureLines(Array.from({ length: 70 }, () => long));
  expect(lines[0]).toBe(`FAILED a b: red ${'x'.repeat(296)}`);
  expect(lines).toHaveLength(61);
  expect(lines.at(-1)).toBe('FAILED … and 10 more');
});
