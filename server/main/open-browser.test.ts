import { describe, expect, test } from 'vitest';
import { openBrowser, shouldOpenBrowser } from './open-browser.ts';

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
  expect(await openBrowser(url, { env, platform, launch })).toBe('opened');
  expect(launched).toEqual([expected]);
});

test('starts nothing when no browser is wanted', async () => {
  const { launch, launched } = setup();
  expect(await openBrowser(url, { env: {}, platform: 'linux', launch })).toBe('not_wanted');
  expect(launched).toEqual([]);
});

test('reports when the desktop has no opener', async () => {
  const { launch } = setup(false);
  const env = { CALLBOARD_OPEN: '1', DISPLAY: ':0' };
  expect(await openBrowser(url, { env, platform: 'linux', launch })).toBe('failed');
});

test('a desktop whose opener is missing does not crash it', async () => {
  // The real launcher of programs, on a platform whose opener no test machine has.
  const other = process.platform === 'darwin' ? 'win32' : 'darwin';
  const path = process.env.PATH;
  process.env.PATH = '';
  const opening = openBrowser(url, { env: { CALLBOARD_OPEN: '1' }, platform: other });
  process.env.PATH = path;
  expect(await opening).toBe('failed');
});

const desktop = { CALLBOARD_OPEN: '1', DISPLAY: ':0' };

describe('shouldOpenBrowser', () => {
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
});
