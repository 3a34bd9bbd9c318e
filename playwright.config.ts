import { defineConfig } from '@playwright/test';
import { headlessShell } from './e2e/support/browsers.ts';

const WITHOUT_PAGES = ['**/contract/*.spec.ts', '**/interop/*.spec.ts'];

export default defineConfig({
  testDir: 'e2e',
  // What ends in `.test.ts` is Vitest's.
  testMatch: '**/*.spec.ts',
  workers: 3,
  projects: [
    // One for each of two cores: with three, pages that wait for a core fail where nothing is wrong.
    { name: 'main', testIgnore: WITHOUT_PAGES, workers: 2 },
    // These wait more than they compute, so that they go beside the pages.
    { name: 'contract', testMatch: WITHOUT_PAGES, workers: 1 },
  ],
  // The tests of a file run in its order: some share a server, and see what came before them.
  fullyParallel: false,
  retries: 0,
  forbidOnly: true,
  // Generous, since two browsers and a build may share two cores: a limit, not an expectation.
  timeout: 120_000,
  expect: { timeout: 30_000 },
  reporter: 'list',
  use: {
    // A record of each action with the page before and after it is a fifth of the processor that a
    // test takes. One that fails leaves the page as text and the log of its servers; for more:
    // `npx playwright test e2e/tools.spec.ts --trace retain-on-failure`.
    trace: 'off',
    // A recording needs a program that Playwright downloads.
    video: 'off',
    launchOptions: headlessShell,
  },
});
