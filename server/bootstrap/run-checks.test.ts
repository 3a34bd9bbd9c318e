import { existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { inMemory, runCheck } from './run-checks.mjs';

const setup = { node: process.execPath, env: { A: 'kept' }, npmCli: undefined };

/** What the checks print would pass for a failure of this run. */
const muted = () => vi.spyOn(process.stdout, 'write').mockReturnValue(true);
let printed: ReturnType<typeof muted>;
beforeEach(() => {
  printed = muted();
});
afterEach(() => printed.mockRestore());

test('a stage without what it needs fails by name and is not run', async () => {
  const run = vi.fn();
  const stage = { name: 'end-to-end tests', needs: ['build', 'curl'], run };
  expect(await runCheck(stage, setup, ['curl'])).toEqual([
    { name: 'end-to-end tests', why: 'not run without curl' },
  ]);
  expect(run).not.toHaveBeenCalled();
});

test('a check that fails without a report is one failure, and its tests have its name', async () => {
  const ended = (ok: boolean) => async () => ({ ok, tests: [{ name: 'holds' }] });
  expect(await runCheck({ name: 'lint', run: ended(true) }, setup, [])).toEqual([
    { name: 'lint: holds' },
  ]);
  expect(await runCheck({ name: 'lint', run: ended(false) }, setup, [])).toEqual([
    { name: 'lint: holds' },
    { name: 'lint', why: 'it ended with an error; its output is above' },
  ]);
});

test('tests get a folder of their own in memory, which goes with all that they left in it', async () => {
  const roomy = { folder: tmpdir(), room: 1, spareMemory: 1 };
  let folder = '';
  const run = async (env: Record<string, string | undefined>) => {
    folder = env.TMPDIR ?? '';
    if (env.TMPDIR !== '/elsewhere' && folder !== '') writeFileSync(join(folder, 'left'), '');
    return env.A === 'kept';
  };
  expect(await inMemory(setup, run, roomy)).toBe(true);
  expect(dirname(folder)).toBe(tmpdir());
  expect(existsSync(folder)).toBe(false);

  for (const short of [
    { folder: '/no-such-folder' },
    { room: Number.MAX_SAFE_INTEGER },
    { spareMemory: Number.MAX_SAFE_INTEGER },
  ]) {
    await inMemory(setup, run, { ...roomy, ...short });
    expect(folder).toBe('');
  }
  await inMemory({ ...setup, env: { A: 'kept', TMPDIR: '/elsewhere' } }, run, roomy);
  expect(folder).toBe('/elsewhere');
});
