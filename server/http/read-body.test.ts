import { expect, test } from 'vitest';
import { createCollector } from '../base/collect-garbage.ts';
import { GatheredBytes } from './read-body.ts';

test('[HT56] pieces of whatever sizes come to the bytes that were sent, in order', () => {
  for (const sizes of [[1], [1, 1], [5_000], [1, 5_000, 1, 4_096, 4_095, 2], [3, 9_000, 3]]) {
    const sent = sizes.map((size, at) => Buffer.alloc(size, at + 1));
    const gathered = new GatheredBytes();
    for (const piece of sent) gathered.add(piece);
    expect(gathered.all().equals(Buffer.concat(sent))).toBe(true);
  }
  expect(new GatheredBytes().all().length).toBe(0);
});

test('[HT56] a body in single bytes takes little more than its bytes', () => {
  const BYTES = 256 * 1024;
  const memory = () => {
    createCollector().used(Number.MAX_SAFE_INTEGER);
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const gathered = new GatheredBytes();
  const before = memory();
  // As Node makes a buffer of each chunk of a body.
  for (let at = 0; at < BYTES; at += 1) gathered.add(Buffer.allocUnsafeSlow(1));
  // As buffers of their own they take some 50 MiB.
  expect(memory() - before).toBeLessThan(8 * 1024 * 1024);
  expect(gathered.all().length).toBe(BYTES);
});
