import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { createCollector } from '../base/collect-garbage.ts';
import { OutboundBudget } from './outbound-budget.ts';

const MIB = 1024 * 1024;

function setup() {
  const clock = createManualClock();
  const budget = new OutboundBudget({ clock, collector: createCollector(() => {}) });
  const order: number[] = [];
  let readers = 0;
  const reader = (bytes: number, holder = `${readers}`) => {
    const self = {
      number: readers++,
      isIn: false,
      isCut: false,
      taken: 0,
      release: () => {},
      resize: (_bytes: number) => {},
    };
    const share = budget.open(
      {
        sentBytes: () => self.taken,
        cut: () => {
          self.isCut = true;
          self.release();
        },
      },
      bytes,
      holder,
    );
    self.resize = share.resize;
    self.release = () => {
      self.isIn = false;
      share.release();
    };
    void share.admitted.then((isIn) => {
      self.isIn = isIn;
      if (isIn) order.push(self.number);
    });
    return self;
  };
  const turns = async (count: number) => {
    for (let n = 0; n < count; n += 1) await nextTurn();
  };
  return { clock, order, reader, turns };
}

test('[UN4] of 100 answers of 8 MiB two are made and not sent yet, and all have their turn, in order', async () => {
  const { reader, order, turns } = setup();
  const readers = Array.from({ length: 100 }, () => reader(8 * MIB));
  for (let round = 0; order.length < 100; round += 1) {
    if (round > 1_000) throw new Error('they have no turn');
    await turns(3);
    const inside = readers.filter(({ isIn }) => isIn);
    expect(inside.length).toBeLessThanOrEqual(2);
    inside[0]?.release();
  }
  expect(order).toEqual(readers.map(({ number }) => number));
});

test('[UN4] a caller that asks for much keeps no other back', async () => {
  const { reader, order, turns } = setup();
  const many = Array.from({ length: 100 }, () => reader(8 * MIB, 'greedy'));
  await turns(3);
  const other = reader(8 * MIB, 'other');
  many[0]?.release();
  await turns(5);
  expect([order, other.isIn]).toEqual([[0, 1, 100], true]);
  // With as many bytes each, the one that waits longest.
  many[1]?.release();
  await turns(5);
  expect(order).toEqual([0, 1, 100, 2]);
});

test('[UN4] of one caller 64 wait, and another still has a place', async () => {
  const { reader, order, turns } = setup();
  const many = Array.from({ length: 300 }, () => reader(16 * MIB, 'greedy'));
  const other = reader(16 * MIB, 'other');
  for (const one of [...many, other]) {
    one.release();
    await turns(3);
  }
  expect(order).toEqual([...Array.from({ length: 1 + 64 }, (_, number) => number), 300]);
});

test('[UN4] one is made in a turn of the event loop', async () => {
  const { reader, order, turns } = setup();
  for (let n = 0; n < 10; n += 1) reader(MIB);
  for (let turn = 1; turn <= 10; turn += 1) {
    await Promise.resolve();
    expect(order.length).toBe(turn);
    await turns(1);
  }
});

test('[UN4] one that is larger than all the room goes alone', async () => {
  const { reader, turns } = setup();
  const huge = reader(40 * MIB);
  const small = reader(MIB);
  await turns(5);
  expect([huge.isIn, small.isIn]).toEqual([true, false]);
  huge.release();
  await turns(2);
  expect(small.isIn).toBe(true);
});

test('[UN4] readers that take nothing, or little, are cut while others wait, and one that reads is not', async () => {
  const { clock, reader, turns } = setup();
  const [silent, reading] = [reader(8 * MIB), reader(8 * MIB)];
  await turns(3);
  clock.advance(600_000);
  expect([silent.isCut, reading.isCut]).toEqual([false, false]);
  const waits = reader(8 * MIB);
  // How many wait makes no window end earlier.
  reader(8 * MIB);
  // It stops in the second window only.
  silent.taken += MIB;
  for (let window = 0; window < 3; window += 1) {
    for (const one of [reading, waits]) one.taken += MIB;
    clock.advance(10_000);
    await turns(2);
  }
  expect([silent.isCut, reading.isCut, waits.isIn]).toEqual([true, false, true]);
});

test('[UN4] more than 256 do not wait, and one that hangs up waits no more', async () => {
  const { reader, turns, order } = setup();
  const readers = Array.from({ length: 300 }, () => reader(16 * MIB));
  readers[1]?.release();
  readers[0]?.release();
  await turns(3);
  expect(order).toEqual([0, 2]);
  for (const one of readers) {
    one.release();
    await turns(2);
  }
  expect(order.length).toBe(256);
});

test('[UN4] one that came to less than was thought makes room for others, and none after its end', async () => {
  const { reader, order, turns } = setup();
  const [first, second] = [reader(16 * MIB), reader(8 * MIB), reader(8 * MIB), reader(8 * MIB)];
  await turns(5);
  expect(order).toEqual([0]);
  first?.resize(1 * MIB);
  await turns(5);
  expect(order).toEqual([0, 1]);
  second?.resize(7 * MIB);
  await turns(5);
  expect(order).toEqual([0, 1, 2]);
  first?.release();
  first?.resize(0);
  await turns(5);
  expect(order).toEqual([0, 1, 2]);
});
