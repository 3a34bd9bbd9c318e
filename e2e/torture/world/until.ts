import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves once `test` gives something; throws what did not come to be within `ms`. */
export async function until<T>(
  what: string,
  ms: number,
  test: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const giveUpAt = performance.now() + ms;
  for (;;) {
    const found = await test();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > giveUpAt) throw new Error(`${what}: not within ${ms} ms`);
    await sleep(10);
  }
}
