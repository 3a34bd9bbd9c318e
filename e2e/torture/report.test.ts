import { expect, test } from 'vitest';
import { mergeReport, type TortureReport, toMarkdown } from './report.ts';

const report = (commit: string, seen: Readonly<Record<string, string>>): TortureReport => ({
  date: '2026-11-22T00:00:00.000Z',
  seed: '99',
  commit,
  cycles: 200,
  machine: { cpus: 2, cpu: 'a cpu', memory: 2 ** 30, platform: 'linux', arch: 'x64', node: 'v26' },
  scenarios: Object.entries(seen).map(([id, summary]) => ({
    id,
    name: `fault ${id}`,
    outcome: { figures: {}, violations: [], summary },
    seconds: 1,
  })),
  mutants: [{ name: 'no | lock', scenario: 'F09', isKilled: false, seconds: 1, seen: commit }],
  model: undefined,
});

test('a run of some scenarios keeps the rows of the others, in the order of the plan', () => {
  const parts = { scenarios: ['F01', 'F02', 'F03'], mutants: ['no | lock', 'another'] };
  const none = { scenarios: [], mutants: [] };
  const first = mergeReport(none, report('abc', { F03: 'old', F01: 'old', F99: 'old' }), parts);
  const kept = mergeReport(first, report('def', { F02: 'new', F03: 'new' }), parts);
  expect(kept.scenarios.map(({ id, outcome, by }) => [id, outcome.summary, by.commit])).toEqual([
    ['F01', 'old', 'abc'],
    ['F02', 'new', 'def'],
    ['F03', 'new', 'def'],
  ]);
  expect(toMarkdown(kept)).toContain('1 mutants, 0 killed.');
  expect(toMarkdown(kept)).toContain('| no \\| lock | F09 | **no** | def |');
});
