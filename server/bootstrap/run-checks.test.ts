import { expect, test } from 'vitest';
import type { Setup } from './project.mjs';
import { ALL_CHECKS, runAll } from './run-checks.mjs';
import { ensureNeeds } from './stage-needs.mjs';

const setup = { node: process.execPath, env: { A: 'kept' }, npmCli: undefined };

/** Ways that note what they are asked for; those that are `missing` fail. */
function recorder(...missing: string[]) {
  const log: string[] = [];
  const way = (need: string) => async () => {
    log.push(`ensure ${need}`);
    return missing.includes(need) ? { problem: `no ${need}` } : { env: { [need]: 'found' } };
  };
  const ways = {
    build: way('build'),
    chromium: way('chromium'),
    curl: way('curl'),
    compiler: way('compiler'),
  };
  const ensure: typeof ensureNeeds = (needs, before) => ensureNeeds(needs, before, ways);
  /** The real checks, of which each only notes that it ran, and with what. */
  const checks = ALL_CHECKS.map(({ name, needs }) => ({
    name,
    needs,
    run: async ({ env }: Setup) => {
      log.push(`run ${name}`);
      expect(env).toMatchObject({
        A: 'kept',
        ...Object.fromEntries(needs.map((n) => [n, 'found'])),
      });
      return true;
    },
  }));
  return { log, run: () => runAll(checks, setup, ensure) };
}

test('everything that any stage needs is ensured once, before the first stage', async () => {
  const { log, run } = recorder();
  expect(await run()).toEqual({ code: 0, totals: { passed: 0, failed: 0 } });
  const first = log.findIndex((line) => line.startsWith('run '));
  expect(log.slice(0, first).sort()).toEqual([
    'ensure build',
    'ensure chromium',
    'ensure compiler',
    'ensure curl',
  ]);
  expect(log.slice(first)).toEqual(ALL_CHECKS.map(({ name }) => `run ${name}`));
});

test('a stage says what its tests start: browsers, the built server, programs of the system', () => {
  const needs = Object.fromEntries(ALL_CHECKS.map(({ name, needs: own }) => [name, own]));
  expect(needs).toMatchObject({
    'unit tests': ['chromium'],
    'end-to-end tests': ['build', 'chromium', 'curl'],
    'short torture': ['build', 'chromium', 'compiler'],
  });
});

test('a stage without what it needs fails by name, and the others run', async () => {
  const { log, run } = recorder('curl');
  expect(await run()).toEqual({ code: 1, totals: { passed: 0, failed: 1 } });
  expect(log).not.toContain('run end-to-end tests');
  expect(log.filter((line) => line.startsWith('run '))).toHaveLength(ALL_CHECKS.length - 1);
});
