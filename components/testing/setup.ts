import { afterEach, vi } from 'vitest';

/** Limits, not expectations: a part that is loaded when it is shown may take seconds on a busy machine. */
const LIMIT_MS = 20_000;

// Stand-ins for the browser end with their test, and its page ends before them.
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

if (typeof document !== 'undefined') {
  const { cleanup, configure } = await import('@testing-library/react');
  configure({ asyncUtilTimeout: LIMIT_MS });
  afterEach(cleanup);
}
