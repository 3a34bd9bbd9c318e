import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runChild } from './run-child.mjs';

const here = { command: process.execPath, env: process.env, cwd: import.meta.dirname };

test('gives the exit code and keeps the output back', async () => {
  const script = 'console.log(process.argv[1]); console.error("two"); process.exit(3)';
  // Would be two words and a command to a shell.
  const args = ['--eval', script, 'a b; echo $HOME'];
  expect(await runChild({ ...here, args, output: 'keep' })).toEqual({
    code: 3,
    output: 'a b; echo $HOME\ntwo\n',
    told: false,
  });
});

test('reports a signal as a shell would', async () => {
  const args = ['--eval', 'process.kill(process.pid, "SIGKILL")'];
  expect((await runChild({ ...here, args, output: 'keep' })).code).toBe(128 + 9);
});

test('a program that is not there is an exit code and a line, no crash', async () => {
  const { code, output } = await runChild({
    ...here,
    command: '/no/program',
    args: [],
    output: 'keep',
  });
  expect(code).toBe(127);
  expect(output).toContain('/no/program');
});

/** A launcher whose child says when it is there, and ends with 5 when it is asked to stop. */
const CHILD = `
  process.on('SIGTERM', () => process.exit(5));
  process.on('disconnect', () => process.exit(9));
  setInterval(() => {}, 1_000);
  console.log('ready', process.connected, process.ppid);
`;
const LAUNCHER = `
  import { runChild } from ${JSON.stringify(join(import.meta.dirname, 'run-child.mjs'))};
  const args = ['--eval', ${JSON.stringify(CHILD)}];
  const child = { command: process.execPath, args, env: process.env, cwd: '.', output: 'channel' };
  process.exitCode = (await runChild(child)).code;
`;

async function startLauncher(command = process.execPath, more: string[] = []) {
  const args = [...more, '--input-type=module', '--eval', LAUNCHER];
  const started = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, npm_lifecycle_event: 'serve' },
  });
  const ended = once(started.stdout, 'close');
  const [line] = await once(started.stdout, 'data');
  const [, connected, launcherPid] = String(line).trim().split(' ');
  onTestFinished(() => {
    started.stdout.destroy();
    // What is left after a test that failed; the launcher's child ends with it.
    for (const pid of [started.pid, Number(launcherPid)]) {
      if (pid !== undefined && isAlive(pid)) process.kill(pid, 'SIGKILL');
    }
  });
  return { started, connected, ended };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a signal is passed on, and the exit code of the child is its own', async () => {
  const { started, connected } = await startLauncher();
  expect(connected).toBe('true');
  started.kill('SIGTERM');
  expect(await once(started, 'exit')).toEqual([5, null]);
});

test('a child that is to stop for a reason of our own ends, and nobody told us to', async () => {
  const stop = new AbortController();
  const args = ['--eval', 'setInterval(() => {}, 1_000)'];
  const ended = runChild({ ...here, args, output: 'keep', stopOn: stop.signal });
  stop.abort();
  expect(await ended).toEqual({ code: 128 + 15, output: '', told: false });
});

test('a launcher that lost its parent ends its child', async () => {
  // The shell stands for npm that dies of a signal without telling those it started.
  const { started: npm, ended } = await startLauncher('/bin/sh', [
    '-c',
    '"$0" "$@" & wait',
    process.execPath,
  ]);
  npm.kill('SIGKILL');
  // All of them hold the same stdout: it closes only when the last has ended.
  await ended;
});

test('so does one whose shell lives on after npm', async () => {
  const inner = `/bin/sh -c '"$0" "$@"; exit 0' "$0" "$@" & wait`;
  const { started: npm, ended } = await startLauncher('/bin/sh', ['-c', inner, process.execPath]);
  npm.kill('SIGKILL');
  await ended;
});
