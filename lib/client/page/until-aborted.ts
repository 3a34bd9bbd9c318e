/**
 * Resolves when `begin` calls back, and when the wait is given up: who waits looks at the signal.
 * What `begin` returns ends what it began, in both cases; nothing is left at the signal.
 */
export function untilAborted(
  signal: AbortSignal,
  begin: (done: () => void) => () => void,
): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      end();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const end = begin(done);
    signal.addEventListener('abort', done);
  });
}
