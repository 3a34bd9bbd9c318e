import { expect, test } from 'vitest';
import { body, describeEventBus, listen } from './event-bus.contract.ts';
import type { LoggedEvent } from './event-bus.ts';
import { createMemoryBus, type MemoryBusOptions } from './memory-bus.ts';

function setup(options: MemoryBusOptions = {}) {
  const errors: unknown[] = [];
  const bus = createMemoryBus({
    maxEvents: 1_000,
    logger: { error: (cause) => void errors.push(cause), info: () => {} },
    ...options,
  });
  return { bus, errors, settle: () => new Promise<void>((resolve) => setImmediate(resolve)) };
}

describeEventBus('the bus in memory', setup);

test('[EB1] numbering begins at the given number', async () => {
  const { bus, settle } = setup({ firstSeq: 501 });
  expect(bus.seq).toBe(500);
  const before = listen(bus, 499);
  const since = listen(bus, 500);
  expect(bus.publish(body('a'))).toBe(501);
  await settle();
  expect([before.complete, since.complete]).toEqual([false, true]);
  expect(since.seqs()).toEqual([501]);
});

test('[EB2] the moment ends with its schedule', () => {
  const flushes: (() => void)[] = [];
  const { bus } = setup({ schedule: (flush) => flushes.push(flush) });
  const listener = listen(bus);
  bus.publish(body('a'));
  bus.publish(body('b'));
  expect(flushes).toHaveLength(1);
  flushes[0]?.();
  expect(listener.calls).toEqual([[1, 2]]);
});

test('[EB6] large events make the log shorter than its number of events', () => {
  const { bus } = setup({ maxBytes: 10_000 });
  for (let count = 0; count < 20; count += 1) bus.publish(body('x'.repeat(1_000)));
  expect(listen(bus, bus.seq - 8).complete).toBe(true);
  expect(listen(bus, bus.seq - 11).complete).toBe(false);
  bus.publish(body('x'.repeat(20_000)));
  expect(listen(bus, bus.seq - 1).complete).toBe(false);
  expect(listen(bus, bus.seq).complete).toBe(true);
  bus.publish(body('small'));
  expect(listen(bus, bus.seq - 1).complete).toBe(true);
});

test('[EB6] the log holds 2,000 events and 4 MiB, unless told otherwise', () => {
  const bus = createMemoryBus();
  for (let count = 0; count < 2_100; count += 1) bus.publish(body('x'));
  expect([2_000, 2_001].map((ago) => listen(bus, bus.seq - ago).complete)).toEqual([true, false]);
  for (let count = 0; count < 100; count += 1) bus.publish(body('x'.repeat(64 * 1024)));
  expect([60, 65].map((ago) => listen(bus, bus.seq - ago).complete)).toEqual([true, false]);
});

test('[EB8] a thousand subscribers are handed the very same list', async () => {
  const { bus, settle } = setup();
  const lists = new Set<readonly LoggedEvent[]>();
  for (let count = 0; count < 1_000; count += 1) {
    bus.subscribe({ onEvents: (events) => lists.add(events) });
  }
  bus.publish(body('a'));
  await settle();
  expect(lists.size).toBe(1);
});

test('[EB11] the next numbers are reserved while half of them are left', () => {
  const asked: number[] = [];
  const { bus } = setup({
    firstSeq: 101,
    seqBlock: 100,
    reserve(count) {
      asked.push(bus.seq);
      return Promise.resolve(count);
    },
  });
  for (let count = 0; count < 220; count += 1) bus.publish(body('x'));
  expect(asked).toEqual([151, 251]);
});

test('[EB11] numbers that cannot be reserved are reported once, and events go on', async () => {
  const { bus, errors, settle } = setup({
    seqBlock: 100,
    reserve: () => Promise.reject(new Error('no disk')),
  });
  for (let count = 0; count < 140; count += 1) bus.publish(body('x'));
  await settle();
  expect(errors).toEqual([new Error('no disk')]);
  expect(bus.seq).toBe(140);
});
