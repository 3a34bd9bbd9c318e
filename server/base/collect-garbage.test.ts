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
