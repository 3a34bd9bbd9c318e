import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { createCollector } from './collect-garbage.ts';

const MIB = 1024 * 1024;

test('[UN2] garbage is collected once for every 4 MiB of large values', () => {
  let collected = 0;
  const collector = createCollector(() => {
    collected += 1;
  });
  for (let count = 0; count < 7; count += 1) collector.used(MIB);
  expect(collected).toBe(1);
  collector.used(16 * MIB);
  expect(collected).toBe(2);
});

test('[UN2] what is collected is memory of values that are of no use any more', async () => {
  const collected = Promise.withResolvers<void>();
  const registry = new FinalizationRegistry(() => collected.resolve());
  registry.register({ large: 'x'.repeat(MIB) }, undefined);
  createCollector().used(4 * MIB);
  await collected.promise;
});

/** How many times what is in use its heap grows to while some of it lives a while. */
function growthOf(start: string): number {
  const program = `
    const { boundHeapGrowth } = await import(${JSON.stringify(new URL('./collect-garbage.ts', import.meta.url).href)});
    ${start}
    const item = (n) => ({ n, list: Array.from({ length: 20 }, (_, at) => ({ at, n })) });
    const used = () => process.memoryUsage().heapUsed;
    const ring = Array.from({ length: 50_000 }, (_, n) => item(n));
    const live = used();
    let most = 0;
    for (let n = 0; n < 600_000; n += 1) {
      ring[n % ring.length] = item(n);
      if (n % 5_000 === 0) most = Math.max(most, used());
    }
    console.log(most / live);`;
  const flags = ['--max-semi-space-size=4', '--disable-warning=ExperimentalWarning'];
  return Number(
    execFileSync(process.execPath, [...flags, '--input-type=module', '-e', program]).toString(),
  );
}

test('a heap whose values live for a while grows less than V8 would let it', () => {
  expect(growthOf('boundHeapGrowth();')).toBeLessThan(0.8 * growthOf(''));
}, 60_000);
