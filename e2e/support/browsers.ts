import type { LaunchOptions } from '@playwright/test';

/** Set by the launcher, which looks for both or installs them; without them, Playwright's own. */
const chromium = process.env.CALLBOARD_CHROMIUM;
const shell = process.env.CALLBOARD_HEADLESS_SHELL || chromium;

const args = [
  '--no-sandbox',
  // The real pixels of a tab, and a camera, without a click on a prompt. Chromium's other flag
  // for this, --use-fake-ui-for-media-stream, breaks the capture of a tab.
  '--auto-accept-this-tab-capture',
  '--use-fake-device-for-media-stream',
];

/** For most tests: it takes a quarter less processor. */
export const headlessShell: LaunchOptions = {
  args,
  ...(shell ? { executablePath: shell } : {}),
};

/**
 * For tests of what the headless shell lacks: capture of a tab, notifications and push, the
 * back/forward cache. A file of them says `test.use({ launchOptions: wholeChromium })`.
 */
export const wholeChromium: LaunchOptions = {
  args,
  ...(chromium ? { executablePath: chromium } : { channel: 'chromium' }),
};
