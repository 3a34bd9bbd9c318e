import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { WatchEventBody } from '#lib/protocol/watch-messages';
import type { EventBus, InstanceMessage, LoggedEvent } from './event-bus.ts';
import { createMemoryBus, instanceAddress, type MemoryBusOptions } from './memory-bus.ts';

function setup(options: MemoryBusOptions = {}) {
  const errors: unknown[] = [];
  const bus = createMemoryBus({
    maxEvents: 1_000,
    logger: { error: (cause) => void errors.push(cause), info: () => {} },
    ...options,
  });
  return { bus, errors, settle: () => new Promise<void>((resolve) => setImmediate(resolve)) };
}

const body = (delta: string): WatchEventBody => ({
  type: 'message_delta',
  run_id: 'run_1',
  message_id: 'msg_1',
  index: 0,
  part: 'text',
  delta,
});

/** Notes the numbers of each delivery. */
function listen(bus: EventBus, since?: number) {
  const calls: number[][] = [];
  const subscription = bus.subscribe({
    ...(since !== undefined && { since }),
    onEvents: (events) => calls.push(events.map(({ event }) => event.seq)),
  });
  return { calls, seqs: () => calls.flat(), ...subscription };
}

test('[EB1] [EB2] events of one moment come in order, in one call', async () => {
  const { bus, settle } = setup();
  const [one, other] = [listen(bus), listen(bus)];
  const first = bus.publish(body('a'));
  expect([bus.publish(body('b')), bus.publish(body('c')), bus.seq]).toEqual([
    first + 1,
    first + 2,
    first + 2,
  ]);
  expect(one.calls).toEqual([]);
  await settle();
  bus.publish(body('d'));
  await settle();
  expect(one.calls).toEqual([[first, first + 1, first + 2], [first + 3]]);
  expect(other.calls).toEqual(one.calls);
});

test('[EB3] a subscriber gets what comes after it, in the same moment too', async () => {
  const { bus, settle } = setup();
  const early = listen(bus);
  const first = bus.publish(body('a'));
  const late = listen(bus);
  bus.publish(body('b'));
  await settle();
  expect(early.seqs()).toEqual([first, first + 1]);
  expect(late.seqs()).toEqual([first + 1]);
});

test('[EB3] a closed subscriber gets nothing more, though another closed it', async () => {
  const { bus, settle } = setup();
  const closing: { close(): void }[] = [];
  bus.subscribe({ onEvents: () => closing.pop()?.close() });
  const other = listen(bus);
  closing.push(other);
  const own = listen(bus);
  bus.publish(body('a'));
  own.close();
  own.close();
  await settle();
  expect([other.calls, own.calls]).toEqual([[], []]);
});

test('[EB3] one that subscribes or publishes during a delivery works from then on', async () => {
  const { bus, settle } = setup();
  const seqs: number[] = [];
  let inner: ReturnType<typeof listen> | undefined;
  bus.subscribe({
    onEvents(events) {
      seqs.push(...events.map(({ event }) => event.seq));
      if (inner) return;
      inner = listen(bus);
      bus.publish(body('b'));
    },
  });
  const first = bus.publish(body('a'));
  await settle();
  await settle();
  expect(seqs).toEqual([first, first + 1]);
  expect(inner?.seqs()).toEqual([first + 1]);
});

test('[EB7] one that throws harms no other and gets the next ones', async () => {
  const { bus, settle, errors } = setup();
  let received = 0;
  bus.subscribe({
    onEvents() {
      received += 1;
      throw new Error('broken');
    },
  });
  const other = listen(bus);
  const first = bus.publish(body('a'));
  await settle();
  bus.publish(body('b'));
  await settle();
  expect(other.seqs()).toEqual([first, first + 1]);
  expect(received).toBe(2);
  expect(errors).toEqual([new Error('broken'), new Error('broken')]);
});

test('[EB8] an event is made into text once, for all who want it', async () => {
  const { bus, settle } = setup();
  let made = 0;
  const params = { toJSON: () => ++made };
  const texts: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    bus.subscribe({ onEvents: (events) => texts.push(...events.map((one) => one.json)) });
  }
  listen(bus);
  const seq = bus.publish({ type: 'call', tool_call_id: 'tc', run_id: 'r', update: { params } });
  expect(made).toBe(0);
  await settle();
  const event = { type: 'call', tool_call_id: 'tc', run_id: 'r', update: { params: 1 }, seq };
  expect(texts.map((text) => JSON.parse(text))).toEqual([event, event, event]);
  expect(made).toBe(1);
});

test('[EB4] each newer event comes exactly once, whenever one comes back', async () => {
  // Each step publishes, lets it arrive, or comes back from some events ago.
  const step = fc.oneof(
    fc.constant({ type: 'publish' as const }),
    fc.constant({ type: 'settle' as const }),
    fc.record({ type: fc.constant('return' as const), ago: fc.integer({ min: 0, max: 20 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { bus, settle } = setup();
      const start = bus.seq;
      const returned: { since: number; listener: ReturnType<typeof listen> }[] = [];
      for (const { type, ...given } of steps) {
        if (type === 'publish') bus.publish(body('x'));
        if (type === 'settle') await settle();
        if (!('ago' in given)) continue;
        const since = Math.max(start, bus.seq - given.ago);
        returned.push({ since, listener: listen(bus, since) });
      }
      await settle();
      for (const { since, listener } of returned) {
        expect(listener.complete).toBe(true);
        const newer = Array.from({ length: bus.seq - since }, (_, index) => since + 1 + index);
        expect(listener.seqs()).toEqual(newer);
      }
    }),
  );
});

test('[EB5] [EB6] beyond the log it is not complete, and live events follow', async () => {
  const { bus, settle } = setup();
  const start = bus.seq;
  for (let count = 0; count < 1_001; count += 1) bus.publish(body('x'));
  await settle();
  const listeners = [listen(bus, start), listen(bus, bus.seq + 1), listen(bus, -1)];
  expect(listeners.map((one) => one.complete)).toEqual([false, false, false]);
  const recent = listen(bus, bus.seq - 100);
  expect([recent.complete, listen(bus).complete]).toEqual([true, true]);
  const live = bus.publish(body('y'));
  await settle();
  expect(listeners.map((one) => one.seqs())).toEqual([[live], [live], [live]]);
  expect(recent.seqs()).toHaveLength(101);
});

test('[EB6] a moment with more events than the log holds loses none', async () => {
  const { bus, settle } = setup();
  const [plain, replayed] = [listen(bus), listen(bus, bus.seq)];
  for (let count = 0; count < 1_500; count += 1) bus.publish(body('x'));
  await settle();
  expect(plain.seqs()).toHaveLength(1_500);
  expect(replayed.seqs()).toEqual(plain.seqs());
});

const address = instanceAddress('cl_1', 'in_1');
const probe = (nonce: string): InstanceMessage => ({
  type: 'send',
  message: { type: 'probe', nonce },
});

test('[EB9] messages reach the instance they are for, in order', async () => {
  const { bus } = setup();
  const got: InstanceMessage[] = [];
  bus.openInbox(address, (message) => got.push(message));
  const close: InstanceMessage = { type: 'close', code: 4010, reason: 'superseded' };
  const sent = [bus.deliver(address, probe('a')), bus.deliver(address, close)];
  expect(await Promise.all(sent)).toEqual([true, true]);
  expect(got).toEqual([probe('a'), close]);
  expect(await bus.deliver(instanceAddress('cl_1', 'in_2'), probe('b'))).toBe(false);
  // An id may have any characters.
  expect(instanceAddress('a/b', 'c')).not.toBe(instanceAddress('a', 'b/c'));
});

test('[EB9] [EB10] a second inbox takes over, and the undo of the first leaves it open', async () => {
  const { bus } = setup();
  const got: string[] = [];
  const closeFirst = bus.openInbox(address, () => got.push('first'));
  const closeSecond = bus.openInbox(address, () => got.push('second'));
  closeFirst();
  expect(await bus.deliver(address, probe('a'))).toBe(true);
  expect(got).toEqual(['second']);
  closeSecond();
  expect(await bus.deliver(address, probe('b'))).toBe(false);
});

test('[EB9] an inbox that throws has not got it', async () => {
  const { bus, errors } = setup();
  bus.openInbox(address, () => {
    throw new Error('gone');
  });
  expect(await bus.deliver(address, probe('a'))).toBe(false);
  expect(errors).toEqual([new Error('gone')]);
});

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
