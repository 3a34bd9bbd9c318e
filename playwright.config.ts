import { defineConfig } from '@playwright/test';

/** Set by the launcher, which looks for a Chromium or installs one; without it, Playwright's own. */
const executablePath = process.env.CALLBOARD_CHROMIUM;

export default defineConfig({
  testDir: 'e2e',
  // Each test has a server and a browser of its own; more of them than cores would only wait.
  workers: 2,
  fullyParallel: true,
  retries: 0,
  forbidOnly: true,
  // Generous, since two browsers and a build may share two cores: a limit, not an expectation.
  timeout: 120_000,
  expect: { timeout: 30_000 },
  reporter: 'list',
  use: {
    trace: 'retain-on-failure',
    // A recording needs a program that Playwright downloads.
    video: 'off',
    launchOptions: {
      ...(executablePath ? { executablePath } : {}),
      args: [
        '--no-sandbox',
        // The real pixels of a tab, and a camera, with nobody there to click. Chromium's other flag
        // for this, --use-fake-ui-for-media-stream, breaks the capture of a tab.
        '--auto-accept-this-tab-capture',
        '--use-fake-device-for-media-stream',
      ],
    },
  },
});
