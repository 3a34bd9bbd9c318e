import type { Page } from '@playwright/test';
import { test as base } from '@playwright/test';
import type { Callboard, StartOptions } from './start-callboard.ts';
import { startCallboard } from './start-callboard.ts';
import { signIn } from './support/workbench.ts';

export interface Fixtures {
  /** Environment for each server of a test: `test.use({ callboardEnv: { … } })`. */
  readonly callboardEnv: Readonly<Record<string, string>>;
  /**
   * Whose the server is. One of a file costs a file one start; its tests must not stop it, and tell
   * their tools, runs and tokens apart by names.
   */
  readonly serverOf: 'test' | 'file';
  /** A running server, of the test's own unless `serverOf` says otherwise. */
  readonly callboard: Callboard;
  /** Starts further servers; each is removed when the test ends. */
  readonly startServer: (options?: StartOptions) => Promise<Callboard>;
  /**
   * The test's page, signed in by the link that the server printed, or a later one of a file by the token.
   * Further tabs: `signedInPage.context().newPage()` has the same cookie.
   */
  readonly signedInPage: Page;
}

/** One for the tests of a file that this worker runs. */
interface WorkerFixtures {
  readonly serverOfFile: (file: string, options: StartOptions) => Promise<Callboard>;
}

/** Playwright's `test` with a server of its own for each test, or for each file. */
export const test = base.extend<Fixtures, WorkerFixtures>({
  callboardEnv: [{}, { option: true }],
  serverOf: ['test', { option: true }],

  serverOfFile: [
    // Playwright wants a pattern here, also where nothing is taken out of it.
    async ({ browserName: _browserName }, use) => {
      let running: { key: string; server: Callboard } | undefined;
      await use(async (file, options) => {
        const key = JSON.stringify([file, options]);
        if (running?.key !== key) {
          await running?.server.remove();
          running = { key, server: await startCallboard(options) };
        }
        return running.server;
      });
      await running?.server.remove();
    },
    { scope: 'worker' },
  ],

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

  callboard: async ({ serverOf, serverOfFile, callboardEnv, startServer }, use, { file }) => {
    const isOfFile = serverOf === 'file';
    await use(isOfFile ? await serverOfFile(file, { env: callboardEnv }) : await startServer());
  },

  signedInPage: async ({ page, callboard }, use) => {
    await signIn(page, callboard);
    await use(page);
  },
});

export { expect } from '@playwright/test';
