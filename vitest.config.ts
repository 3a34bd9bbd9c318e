import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{lib,server,components,e2e}/**/*.test.{ts,tsx}'],
    // Child processes, SQLite files and sockets are real here; two cores share them.
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
});
