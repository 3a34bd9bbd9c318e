import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Setup } from './project.mjs';
import { ALL_CHECKS, runAll } from './run-checks.mjs';
import { ensureNeeds } from './stage-needs.mjs';

const setup = { node: process.execPath, env: { A: 'kept' }, npmCli: undefined };

/** What the checks print; kept from the output of this run, where it would pass for a failure. */
function mutedOutput() {
  return vi.spyOn(process.stdout, 'write').mockReturnValue(true);
}

let printed: ReturnType<typeof mutedOutput>;
beforeEach(() => {
  printed = mutedOutput();
});
afterEach(() => printed.mockRestore());

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
    python: way('python'),
    compiler: way('compiler'),
    proxies: way('proxies'),
    browsers: way('browsers'),
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
      return { ok: true, failures: [], passed: 0, failed: 0 };
    },
  }));
  return { log, run: () => runAll(checks, setup, ensure) };
}

test('everything that any stage needs is ensured once, before the first stage', async () => {
  const { log, run } = recorder();
  expect(await run()).toEqual({ code: 0, totals: { passed: 0, failed: 0 }, failures: [] });
  const first = log.findIndex((line) => line.startsWith('run '));
  expect(log.slice(0, first).sort()).toEqual([
    'ensure browsers',
    'ensure build',
    'ensure chromium',
    'ensure compiler',
    'ensure curl',
    'ensure proxies',
    'ensure python',
  ]);
  expect(log.slice(first)).toEqual(ALL_CHECKS.map(({ name }) => `run ${name}`));
});

test('a stage says what its tests start: browsers, the built server, programs of the system', () => {
  const needs = Object.fromEntries(ALL_CHECKS.map(({ name, needs: own }) => [name, own]));
  expect(needs).toMatchObject({
    'unit tests': ['chromium'],
    'end-to-end tests': ['build', 'chromium', 'curl', 'python', 'proxies', 'browsers'],
    'short torture': ['build', 'chromium', 'compiler'],
  });
});

test('a stage without what it needs fails by name, and the others run', async () => {
  const { log, run } = recorder('curl');
  expect(await run()).toEqual({
    code: 1,
    totals: { passed: 0, failed: 1 },
    failures: ['FAILED end-to-end tests: all of it: not run without curl'],
  });
  expect(log).not.toContain('run end-to-end tests');
  expect(log.filter((line) => line.startsWith('run '))).toHaveLength(ALL_CHECKS.length - 1);
});

test('what failed is listed again after the last stage, with the stage and the first reason', async () => {
  const failures = [{ name: 'F21 half open', why: 'I4: open for too long' }];
  const ended = { passed: 0, failed: 0, failures: [] };
  const checks = [
    { name: 'short torture', needs: [], run: async () => ({ ok: false, ...ended, failures }) },
    { name: 'lint', needs: [], run: async () => ({ ok: false, ...ended }) },
    { name: 'types', needs: [], run: async () => ({ ok: true, ...ended }) },
  ];
  const { failures: lines } = await runAll(checks, setup);
  const output = printed.mock.calls.map(([text]) => text).join('');
  expect(lines).toEqual([
    'FAILED short torture: F21 half open: I4: open for too long',
    'FAILED lint: it ended with an error and without a report; its output is above',
  ]);
  expect(output.endsWith(`${lines.join('\n')}\ncallboard: failed: short torture, lint.\n`)).toBe(
    true,
  );
});

test('quiet stages run side by side, and each of the others alone after them', async () => {
  const running = new Set<string>();
  const seen: string[] = [];
  const stage = (name: string, isQuiet: boolean) => ({
    name,
    needs: [],
    isQuiet,
    async run() {
      running.add(name);
      await new Promise((resolve) => setImmediate(resolve));
      seen.push([...running].join('+'));
      running.delete(name);
      return { ok: true, passed: 0, failed: 0, failures: [] };
    },
  });
  await runAll(
    [stage('unit', false), stage('types', true), stage('lint', true), stage('e2e', false)],
    setup,
  );
  expect(seen).toEqual(['types+lint', 'lint', 'unit', 'e2e']);
});
