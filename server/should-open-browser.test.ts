import { describe, expect, test } from 'vitest';
import { shouldOpenBrowser } from './should-open-browser.ts';

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
