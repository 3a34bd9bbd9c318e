import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // Child processes, SQLite files and sockets are real here; two cores share them.
    maxWorkers: 2,
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
        test: {
          name: 'components',
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
