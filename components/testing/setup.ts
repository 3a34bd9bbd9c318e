/** Limits, not expectations: a part that is loaded when it is shown may take seconds on a busy machine. */
const LIMIT_MS = 20_000;

if (typeof document !== 'undefined') {
  const { configure } = await import('@testing-library/react');
  configure({ asyncUtilTimeout: LIMIT_MS });
}

export {};
