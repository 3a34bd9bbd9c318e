import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { sharedTempDir } from '#lib/testing/temp-dir';
import { bundledWorker } from '../../testing/bundled-worker.ts';
import { ToolError } from '../define-tool.ts';
import { runBuiltin } from '../testing/run-builtin.ts';
import { probeIsolation } from './isolation.ts';
import { createShell } from './shell-tool.ts';

const root = sharedTempDir();
const PATH = '/usr/local/bin:/usr/bin:/bin';
const starterPath = bundledWorker('program-starter.mjs');
const { isolation: ofMachine } = await probeIsolation({ starterPath, path: PATH });
const WAYS = [
  ['among all others', undefined],
  // What is so where the machine does not allow it is in open-tools.test.ts.
  ...(ofMachine ? [['in a PID namespace of its own', ofMachine] as const] : []),
] as const;

/** The processes of the machine, also of other namespaces, with the text in their command line. */
const pidsOf = (mark: string): number[] =>
  readdirSync('/proc')
    .filter((pid) => {
      try {
        // One that has ended and was not waited for has none.
        return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
      } catch {
        return false;
      }
    })
    .map(Number);
const isAlive = (mark: string): boolean => pidsOf(mark).length > 0;

let count = 0;
/** Seconds to sleep that no other process has in its command line. */
const uniqueSeconds = (): string => `999.${process.pid}${++count}`;

describe.each(WAYS)('a program %s', (_way, isolation) => {
  const shell = createShell({ root, env: { PATH, HOME: root }, timeoutMs: 30_000, isolation });
  const run = (argv: string[], context: object = {}) => runBuiltin(shell, { argv }, context);

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

  test('[TP1] a signal that ends a program is one, and no exit code', async () => {
    const ends = { 'kill -TERM $$': [null, 'SIGTERM'], 'kill -KILL $$': [null, 'SIGKILL'] };
    for (const [script, [exit_code, signal]] of Object.entries({
      ...ends,
      'exit 143': [143, null],
    })) {
      expect(await run(['sh', '-c', script])).toMatchObject({ exit_code, signal });
    }
  });

  test('[TP4] T106 T116: a stop ends the program with all that it started', async () => {
    const stopping = new AbortController();
    const previews: string[] = [];
    const status = ({ preview }: { preview?: unknown }) => {
      if (typeof preview === 'string') previews.push(preview);
    };
    const seconds = uniqueSeconds();
    const script = `sleep ${seconds} & echo started; sleep ${seconds}`;
    const result = run(['sh', '-c', script], { signal: stopping.signal, status });
    await vi.waitFor(() => expect(previews[0]).toBe('started\n'), { timeout: 20_000 });
    expect(isAlive(seconds)).toBe(true);
    stopping.abort(new ToolError('Stopped'));
    await expect(result).rejects.toThrow('Stopped');
    await vi.waitFor(() => expect(isAlive(seconds)).toBe(false), { timeout: 20_000 });
  });

  test('[TP4] T106 what a program leaves running ends with it', async () => {
    const seconds = uniqueSeconds();
    await run(['sh', '-c', `sleep ${seconds} & echo started`]);
    await vi.waitFor(() => expect(isAlive(seconds)).toBe(false), { timeout: 20_000 });
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

  test('[TP9] T104: the environment of another process is read only without the namespace', async () => {
    const seconds = uniqueSeconds();
    const secret = `canary-${seconds}`;
    const env = { ...process.env, SECRET_OF_TEST: secret };
    const other = spawn('sleep', [seconds], { env, stdio: 'ignore' });
    onTestFinished(() => void other.kill('SIGKILL'));
    await vi.waitFor(() => expect(isAlive(seconds)).toBe(true), { timeout: 20_000 });
    const pids = ['$PPID', process.pid, process.ppid, other.pid];
    const reads = `cat ${pids.map((pid) => `/proc/${pid}/environ`).join(' ')} /proc/[0-9]*/environ`;
    const { stdout } = (await run(['sh', '-c', reads])) as { stdout: string };
    expect(stdout.includes(secret)).toBe(isolation === undefined);
    if (!isolation) return;
    // Root may take away the /proc that it sees; here from a copy of the mounts, never from the machine.
    const uncovers = `umount -l /proc; umount -l /proc; ${reads}`;
    const below = await run(['unshare', '--mount', 'sh', '-c', uncovers]);
    expect(JSON.stringify(below)).not.toContain(secret);
  });

  test('[TP9] T106 what leaves the process group ends with a namespace, and else goes on', async () => {
    const seconds = uniqueSeconds();
    onTestFinished(() => {
      for (const pid of pidsOf(seconds)) process.kill(pid, 'SIGKILL');
    });
    // It has left the group once it has written.
    const left = `setsid sh -c 'echo > left; exec sleep ${seconds}' >/dev/null 2>&1`;
    await run(['sh', '-c', `mkfifo left; ${left} & read _ < left; rm left`]);
    if (isolation)
      await vi.waitFor(() => expect(isAlive(seconds)).toBe(false), { timeout: 20_000 });
    else expect(isAlive(seconds)).toBe(true);
  });

  test('[TP6] it is asked about each time', () => {
    expect(shell).toMatchObject({ effect: 'write', neverAlways: true });
    expect(shell.annotations).toEqual({ destructiveHint: true, openWorldHint: true });
  });
});
