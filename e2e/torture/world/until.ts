import { setTimeout as sleep } from 'node:timers/promises';

/** Events are waited for that long, on any machine. Nothing is decided by it. */
export const PATIENCE_MS = 60_000;

type Test<T> = () => T | Promise<T>;

/** What `test` gives, once it holds; or as it is after `ms`. */
export async function until<T>(test: Test<T>, ms = PATIENCE_MS, everyMs = 10): Promise<T> {
  const giveUpAt = performance.now() + ms;
  for (;;) {
    const found = await test();
    if (found || performance.now() > giveUpAt) return found;
    await sleep(everyMs);
  }
}

/** The same, or an error that names what did not come to be. */
export async function must<T>(
  what: string,
  test: Test<T | undefined | false>,
  ms = PATIENCE_MS,
): Promise<T> {
  const found = await until(test, ms);
  if (found === undefined || found === false) throw new Error(`${what}: not within ${ms} ms`);
  return found;
}

/** What comes of a promise, or an error that names what did not come in time. */
export async function within<T>(what: string, promise: Promise<T>, ms = PATIENCE_MS): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`${what}: not within ${ms} ms`)), ms);
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}
