import { describe, expect, test } from 'vitest';
import { type MutantRun, mergeReport, type TortureReport, toMarkdown } from './report.ts';

const mutant = (name: string, more: Partial<MutantRun> = {}): MutantRun => ({
  name,
  scenario: 'F01b',
  isKilled: true,
  tries: 1,
  seconds: 4,
  seen: 'I1: a call is gone',
  ...more,
});

const report = (...mutants: MutantRun[]): TortureReport => ({
  date: '2026-11-22T00:00:00.000Z',
  seed: '99',
  commit: 'abc',
  cycles: 200,
  machine: { cpus: 2, cpu: 'a cpu', memory: 2 ** 30, platform: 'linux', arch: 'x64', node: 'v26' },
  scenarios: [],
  mutants,
  model: undefined,
});

const page = (...mutants: MutantRun[]): string => {
  const known = { scenarios: [], mutants: mutants.map(({ name }) => name) };
  return toMarkdown(mergeReport(undefined, report(...mutants), known));
};

describe('the page of the runs', () => {
  test('says how many mutants there are, how many were killed, and how many at the first run', () => {
    const mutants = [
      mutant('no fsync'),
      mutant('no lock', { tries: 3 }),
      mutant('no token', { isKilled: false }),
    ];
    expect(page(...mutants)).toContain('3 mutants, 2 killed, 1 of them at the first run.');
  });

  test('says of each mutant how many runs it took, and marks those that took more than one', () => {
    const text = page(mutant('no fsync'), mutant('no lock', { tries: 3 }));
    expect(text).toContain('| no fsync | F01b | yes | 1 |');
    expect(text).toContain('| no lock | F01b | yes | **3** |');
  });

  test('keeps the rows of scenarios that were not run again, in the order of the plan', () => {
    const run = (id: string, summary: string) => ({
      id,
      name: `fault ${id}`,
      outcome: { figures: {}, violations: [], summary },
      seconds: 1,
    });
    const known = { scenarios: ['F01', 'F02', 'F03'], mutants: [] };
    const whole = {
      ...report(),
      scenarios: [run('F03', 'old'), run('F01', 'old'), run('F99', 'old')],
    };
    const part = { ...report(), commit: 'def', scenarios: [run('F02', 'new'), run('F03', 'new')] };
    const kept = mergeReport(mergeReport(undefined, whole, known), part, known);
    expect(kept.scenarios.map(({ id, outcome, by }) => [id, outcome.summary, by.commit])).toEqual([
      ['F01', 'old', 'abc'],
      ['F02', 'new', 'def'],
      ['F03', 'new', 'def'],
    ]);
  });

  test('keeps what an earlier run saw of a mutant that was not run again', () => {
    const known = { scenarios: [], mutants: ['no fsync', 'no lock'] };
    const first = mergeReport(undefined, report(mutant('no lock', { tries: 2 })), known);
    const second = mergeReport(first, report(mutant('no fsync')), known);
    expect(second.mutants.map(({ name, tries }) => [name, tries])).toEqual([
      ['no fsync', 1],
      ['no lock', 2],
    ]);
  });
});
