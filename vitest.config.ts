import { join } from 'node:path';
import compileMessage from 'icu-minify/compile';
import { defineConfig, type Plugin } from 'vitest/config';

/** The messages of the workbench as its build compiles them: components have no parser of messages. */
const compiledMessages: Plugin = {
  name: 'compiled-messages',
  enforce: 'pre',
  transform(code, id) {
    if (!/\/lib\/i18n\/messages\/workbench\/\w+\.json$/.test(id)) return null;
    const compile = (_key: string, value: unknown) =>
      typeof value === 'string' ? compileMessage(value) : value;
    return JSON.stringify(JSON.parse(code, compile));
  },
};

export default defineConfig({
  test: {
    // Child processes, SQLite files, sockets and clocks are real here, and waited for a third of the
    // time: one worker more than the two cores that share them.
    maxWorkers: 3,
    // Limits, not expectations: a build may share the two cores.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'server',
          include: ['{lib,server,e2e}/**/*.test.{ts,tsx}'],
          // A file leaves nothing behind, so it needs no process and no copy of all modules of its
          // own: that was a quarter of the time.
          isolate: false,
          globalSetup: ['server/testing/bundle-workers.ts'],
          alias: [
            {
              find: './thread-source.ts',
              replacement: join(import.meta.dirname, 'server/testing/bundled-thread-source.ts'),
            },
          ],
        },
      },
      {
        extends: true,
        plugins: [compiledMessages],
        resolve: { alias: { 'use-intl/format-message': 'use-intl/format-message/format-only' } },
        test: {
          name: 'components',
          server: { deps: { inline: [/\/(?:next|use)-intl\//] } },
          include: ['components/**/*.test.{ts,tsx}'],
          setupFiles: ['components/testing/setup.ts'],
          // The stores of the workbench are modules, one for a page: each file is a page of its own.
          isolate: true,
          pool: 'threads',
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
