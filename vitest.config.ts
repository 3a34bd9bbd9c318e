import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{lib,server,components,e2e}/**/*.test.{ts,tsx}'],
    // Child processes, SQLite files and sockets are real here; two cores share them.
    maxWorkers: 2,
    // A file leaves nothing behind, so it needs no process and no copy of all modules of its own:
    // that was a quarter of the time.
    isolate: false,
    // Limits, not expectations: a build may share the two cores.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
