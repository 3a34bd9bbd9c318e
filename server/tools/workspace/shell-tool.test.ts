import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { ToolError } from '../define-tool.ts';
import { runBuiltin } from '../testing/run-builtin.ts';
import { createShell } from './shell-tool.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'callboard-shell-')));
const PATH = '/usr/local/bin:/usr/bin:/bin';
const shell = createShell({ root, env: { PATH, HOME: root }, timeoutMs: 30_000 });
const run = (argv: string[], context: object = {}) => runBuiltin(shell, { argv }, context);

afterAll(() => rmSync(root, { recursive: true, force: true }));

test('[TP1] a program runs in the workspace, and its end, output and errors are the result', async () => {
  expect(await run(['sh', '-c', 'pwd; echo no >&2; exit 3'])).toEqual({
    ...{ exit_code: 3, signal: null, stdout: `${root}\n`, stderr: 'no\n' },
  });
});

test('[TP1] a program that is not there was not run', async () => {
  await expect(run(['no-such-program'])).rejects.toMatchObject({
    ...{ executed: 'no', message: 'no-such-program could not be started: ENOENT' },
  });
});

test.each([['$(id)'], ['; id'], ['\n id'], ['`id`'], ['| id'], ['> x'], ['*']])(
  '[TP2] T105 no shell reads the argument %j',
  async (text) => {
    expect(await run(['echo', '-n', text])).toMatchObject({ stdout: text });
  },
);

test('[TP3] T104 a program is given the environment that was named and nothing else', async () => {
  process.env.SECRET_OF_TEST = 'canary';
  try {
    for (const argv of [['env'], ['cat', '/proc/self/environ']]) {
      const { stdout } = (await run(argv)) as { stdout: string };
      expect(
        stdout
          .split(/[\n\0]/)
          .filter((line) => line !== '')
          .sort(),
      ).toEqual([...[`HOME=${root}`, `PATH=${PATH}`]]);
    }
  } finally {
    delete process.env.SECRET_OF_TEST;
  }
});

const isAlive = (pid: number): boolean => {
  // One that has ended and was not waited for is there as a zombie.
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

test('[TP4] T106 T116: a stop ends the program with all that it started', async () => {
  const stopping = new AbortController();
  const previews: string[] = [];
  const status = ({ preview }: { preview?: unknown }) => {
    if (typeof preview === 'string') previews.push(preview);
  };
  const script = 'sleep 999 & echo $!; sleep 999';
  const result = run(['sh', '-c', script], { signal: stopping.signal, status });
  await vi.waitFor(() => expect(previews[0]).toMatch(/^\d+\n$/), { timeout: 20_000 });
  const pid = Number(previews[0]);
  expect(isAlive(pid)).toBe(true);
  stopping.abort(new ToolError('Stopped'));
  await expect(result).rejects.toThrow('Stopped');
  await vi.waitFor(() => expect(isAlive(pid)).toBe(false));
});

test('[TP4] T106 what a program leaves running ends with it', async () => {
  const { stdout } = (await run(['sh', '-c', 'sleep 999 & echo $!'])) as { stdout: string };
  await vi.waitFor(() => expect(isAlive(Number(stdout))).toBe(false));
});

test('[TP4] T116 what was stopped before it began does not begin', async () => {
  const signal = AbortSignal.abort(new ToolError('Stopped'));
  await expect(run(['touch', 'made'], { signal })).rejects.toThrow();
  expect(await run(['ls'])).toMatchObject({ stdout: '' });
});

test('[TP5] T106 of endless output the first mebibyte is kept, and a note', async () => {
  const result = (await run(['sh', '-c', 'yes | head -c 3000000'])) as Record<string, string>;
  expect(result.stdout).toHaveLength(1024 * 1024);
  expect(result.truncated).toContain('only its first 1048576 bytes');
});

test('[TP6] it is asked about each time', () => {
  expect(shell).toMatchObject({ effect: 'write', neverAlways: true });
  expect(shell.annotations).toEqual({ destructiveHint: true, openWorldHint: true });
});
