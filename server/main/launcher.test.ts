import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openBrowser, shouldOpenBrowser, watchParent } from './launcher.ts';

const url = 'http://127.0.0.1:3000/sign-in/abc?next=%2F&x=1';

function setup(started = true) {
  const launched: (readonly string[])[] = [];
  const launch = async (command: string, args: readonly string[]) => {
    launched.push([command, ...args]);
    return started;
  };
  return { launch, launched };
}

test.each([
  ['linux', ['xdg-open', url]],
  ['darwin', ['open', url]],
  ['win32', ['rundll32', 'url.dll,FileProtocolHandler', url]],
] as const)("gives the URL to the desktop's opener on %s", async (platform, expected) => {
  const { launch, launched } = setup();
  const env = { CALLBOARD_OPEN: '1', DISPLAY: ':0' };
  expect(await openBrowser(url, { env, platform, launch })).toBe(true);
  expect(launched).toEqual([expected]);
});

test('a desktop whose opener is missing does not crash it', async () => {
  // The real launcher of programs, on a platform whose opener no test machine has.
  const other = process.platform === 'darwin' ? 'win32' : 'darwin';
  const path = process.env.PATH;
  process.env.PATH = '';
  const opening = openBrowser(url, { env: { CALLBOARD_OPEN: '1' }, platform: other });
  process.env.PATH = path;
  expect(await opening).toBe(false);
});

const desktop = { CALLBOARD_OPEN: '1', DISPLAY: ':0' };

test.each([
  ['an X display', desktop, 'linux'],
  ['a Wayland display', { CALLBOARD_OPEN: '1', WAYLAND_DISPLAY: 'wayland-0' }, 'linux'],
  ['a Mac, which needs no display variable', { CALLBOARD_OPEN: '1' }, 'darwin'],
  ['Windows', { CALLBOARD_OPEN: '1' }, 'win32'],
  ['CI=false', { ...desktop, CI: 'false' }, 'linux'],
  ['a browser of choice', { ...desktop, BROWSER: 'firefox' }, 'linux'],
] as const)('opens one with %s', (_, env, platform) => {
  expect(shouldOpenBrowser(env, platform)).toBe(true);
});

test.each([
  ['unless `npm start` asked for it', { DISPLAY: ':0' }, 'linux'],
  ['without a display', { CALLBOARD_OPEN: '1' }, 'linux'],
  ['under CI', { ...desktop, CI: 'true' }, 'linux'],
  ['over SSH', { ...desktop, SSH_CONNECTION: '192.0.2.1 5 192.0.2.2 22' }, 'linux'],
  ['over SSH on a Mac', { CALLBOARD_OPEN: '1', SSH_TTY: '/dev/ttys001' }, 'darwin'],
  ['when none is wanted', { ...desktop, BROWSER: 'none' }, 'linux'],
] as const)('opens none %s', (_, env, platform) => {
  expect(shouldOpenBrowser(env, platform)).toBe(false);
});

const module = join(import.meta.dirname, 'launcher.ts');

/** A program that lives until its parent has ended, and then ends with 7. */
const CHILD = `
  import { watchParent } from ${JSON.stringify(module)};
  setInterval(() => {}, 1_000);
  watchParent(() => process.exit(7));
  console.log('watching', process.pid);
`;

test('notifies a process that its launcher was killed outright', async () => {
  const launcher = spawn(process.execPath, ['--input-type=module', '--eval', LAUNCHER], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(launcher.stdout, 'data');
  const child = Number(String(line).split(' ')[1]);
  onTestFinished(() => {
    launcher.stdout.destroy();
    for (const pid of [launcher.pid, child]) {
      if (pid !== undefined && isAlive(pid)) process.kill(pid, 'SIGKILL');
    }
  });

  launcher.kill('SIGKILL');
  // The child holds the launcher's stdout: it closes only when the child has ended too.
  await once(launcher.stdout, 'close');
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** A launcher as ours: its child gets a channel and its own stdout. */
const LAUNCHER = `
  import { spawn } from 'node:child_process';
  const args = ['--input-type=module', '--eval', ${JSON.stringify(CHILD)}];
  spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  setInterval(() => {}, 1_000);
`;

test('notifies it too when the channel was closed before it listened', async () => {
  const exited = new Promise<void>((resolve) => {
    watchParent(resolve, { connected: false, once: () => {}, off: () => {} });
  });
  await exited;
});

test('watches nothing in a process that was started by hand', () => {
  const listen = () => expect.unreachable('there is no channel to listen to');
  watchParent(listen, { once: listen, off: listen })();
});

test('a process that has nothing left to do ends, though its launcher lives', async () => {
  const child = fork('-', [], {
    execArgv: [
      '--input-type=module',
      '--eval',
      `import { watchParent } from ${JSON.stringify(module)}; watchParent(() => process.exit(7));`,
    ],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  expect(await once(child, 'exit')).toEqual([0, null]);
});
