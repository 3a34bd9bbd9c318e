import type { Page } from '@playwright/test';
import { test as base } from '@playwright/test';
import type { Callboard, StartOptions } from './start-callboard.ts';
import { startCallboard } from './start-callboard.ts';

interface Fixtures {
  /** Environment for each server of a test: `test.use({ callboardEnv: { … } })`. */
  readonly callboardEnv: Readonly<Record<string, string>>;
  /** A running server of the test's own. */
  readonly callboard: Callboard;
  /** Starts further servers; each is removed when the test ends. */
  readonly startServer: (options?: StartOptions) => Promise<Callboard>;
  /**
   * The test's page, signed in by the link that the server printed, as a person's first page is.
   * Further tabs: `signedInPage.context().newPage()` has the same cookie.
   */
  readonly signedInPage: Page;
}

/** Playwright's `test` with a server of its own for each test. */
export const test = base.extend<Fixtures>({
  callboardEnv: [{}, { option: true }],

  startServer: async ({ callboardEnv }, use, testInfo) => {
    const started: Callboard[] = [];
    await use(async (options) => {
      const env = { ...callboardEnv, ...options?.env };
      const server = await startCallboard({ ...options, env });
      started.push(server);
      return server;
    });
    if (testInfo.status !== testInfo.expectedStatus) {
      const body = started.map((server) => server.log()).join('\n');
      await testInfo.attach('server.log', { body, contentType: 'text/plain' });
    }
    await Promise.all(started.map((server) => server.remove()));
  },

  callboard: async ({ startServer }, use) => {
    await use(await startServer());
  },

  signedInPage: async ({ page, callboard }, use) => {
    await page.goto(callboard.signInUrl);
    await page.waitForURL((url) => !url.pathname.startsWith('/sign-in'));
    await use(page);
  },
});

export { expect } from '@playwright/test';
