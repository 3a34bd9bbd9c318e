import { describe, expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import type { Store } from '../store/sqlite-store.ts';
import type { Change, KeptEntry } from '../store/store.ts';
import { throwingLogger } from '../testing/error-log.ts';
import { afterFailure, Breaker, type BreakerState } from './breaker.ts';

const closed = (failures: number): BreakerState => ({
  failures,
  pauseMs: 30_000,
  until: null,
  halfOpen: null,
});
const openFor = (failures: number, pauseMs: number, until: number): BreakerState => ({
  failures,
  pauseMs,
  until,
  halfOpen: null,
});

describe('one failure more', () => {
  test.each([
    ['[BR1] the first', undefined, 1_000, closed(1)],
    ['[BR1] the second', closed(1), 1_000, closed(2)],
    ['[BR1] the third trips', closed(2), 1_000, openFor(3, 30_000, 31_000)],
    ['[BR3] in the pause', openFor(3, 30_000, 31_000), 30_999, openFor(4, 30_000, 31_000)],
    ['[BR2] of the trial', openFor(3, 30_000, 31_000), 31_000, openFor(4, 60_000, 91_000)],
    ['[BR2] of the next', openFor(4, 60_000, 91_000), 99_000, openFor(5, 120_000, 219_000)],
    ['[BR2] of the fifth', openFor(7, 240_000, 0), 0, openFor(8, 300_000, 300_000)],
    ['[BR2] never more than 5 min', openFor(9, 300_000, 0), 0, openFor(10, 300_000, 300_000)],
  ] as const)('%s', (_name, before, now, after) => {
    expect(afterFailure(before, now)).toEqual(after);
  });
});

/** What is kept, without a disk. */
function keepingStore() {
  const entries = new Map<string, KeptEntry>();
  const changes: Change[] = [];
  const store: Pick<Store, 'write' | 'listKept'> = {
    async write(given) {
      for (const change of given) {
        changes.push(change);
        if (change.type === 'put_kept') {
          entries.delete(change.entry.key);
          entries.set(change.entry.key, change.entry);
        } else if (change.type === 'delete_kept') entries.delete(change.key);
      }
    },
    listKept: async () => [...entries.values()],
  };
  return { store, changes };
}

describe('an instance', () => {
  function setup() {
    const clock = createManualClock(0);
    const { store, changes: written } = keepingStore();
    const breaker = new Breaker({ clock, store, logger: throwingLogger });
    let changes = 0;
    breaker.onChange(() => {
      changes += 1;
    });
    const fail = (times: number) => {
      for (let time = 0; time < times; time += 1) breaker.failed('i', 't');
    };
    return { clock, breaker, fail, changes: () => changes, store, written };
  }

  test('[BR1] is passed over for that tool alone, and told of when it begins and ends', () => {
    const { clock, breaker, fail, changes } = setup();
    fail(2);
    expect([breaker.admits('i', 't'), changes()]).toEqual([true, 0]);
    fail(1);
    expect([breaker.admits('i', 't'), changes()]).toEqual([false, 1]);
    expect([breaker.admits('i', 'u'), breaker.admits('j', 't')]).toEqual([true, true]);
    expect(breaker.openCircuitsOf('i')).toEqual([{ tool: 't', until: 30_000, failures: 3 }]);
    clock.advance(30_000);
    expect([breaker.admits('i', 't'), changes()]).toEqual([true, 2]);
  });

  test('[BR1] an answer between failures begins the count anew', () => {
    const { breaker, fail } = setup();
    fail(2);
    breaker.delivered('i', 't');
    fail(2);
    expect(breaker.admits('i', 't')).toBe(true);
  });

  test('[BR2] the answer to the trial makes all as before', () => {
    const { clock, breaker, fail, changes } = setup();
    fail(3);
    clock.advance(30_000);
    breaker.offered('i', 't', 'tc_1');
    expect(breaker.admits('i', 't')).toBe(false);
    breaker.delivered('i', 't');
    expect([breaker.admits('i', 't'), breaker.openCircuitsOf('i'), changes()]).toEqual([
      true,
      [],
      3,
    ]);
    fail(2);
    expect(breaker.admits('i', 't')).toBe(true);
  });

  test('[BR3] a trial that ends without telling makes room for another; other calls do not', () => {
    const { clock, breaker, fail } = setup();
    fail(3);
    clock.advance(30_000);
    breaker.offered('i', 't', 'tc_1');
    breaker.released('i', 't', 'tc_older');
    expect(breaker.admits('i', 't')).toBe(false);
    breaker.released('i', 't', 'tc_1');
    expect(breaker.admits('i', 't')).toBe(true);
  });

  test('[BR8] a start takes up what was counted, and the pause that is left', async () => {
    const { clock, breaker, fail, store } = setup();
    fail(3);
    breaker.failed('j', 't');
    breaker.failed('j', 't');
    breaker.failed('k', 't');
    breaker.delivered('k', 't');
    clock.advance(10_000);
    const started = new Breaker({ clock, store, logger: throwingLogger });
    const published: string[] = [];
    started.onChange((instanceId) => published.push(instanceId));
    await started.load();
    expect(started.openCircuitsOf('i')).toEqual([{ tool: 't', until: 30_000, failures: 3 }]);
    expect([started.admits('i', 't'), started.admits('j', 't')]).toEqual([false, true]);
    started.failed('j', 't');
    started.failed('k', 't');
    expect([started.admits('j', 't'), started.admits('k', 't')]).toEqual([false, true]);
    clock.advance(20_000);
    expect([started.admits('i', 't'), published]).toEqual([true, ['j', 'i']]);
  });

  test('[BR8] a call that was tried before the start keeps no other from being tried', async () => {
    const { clock, breaker, fail, store } = setup();
    fail(3);
    clock.advance(30_000);
    breaker.offered('i', 't', 'tc_1');
    const started = new Breaker({ clock, store, logger: throwingLogger });
    await started.load();
    expect(started.admits('i', 't')).toBe(true);
  });

  test('[BR8] a pause is no longer than it was, whatever was lost of the steady clock', async () => {
    const { fail, store } = setup();
    fail(3);
    const clock = createManualClock(-3_600_000);
    const started = new Breaker({ clock, store, logger: throwingLogger });
    await started.load();
    clock.advance(30_000);
    expect(started.admits('i', 't')).toBe(true);
  });

  test('[CK3] a wall clock that is set makes no pause longer or shorter, and shows its end', () => {
    const { clock, breaker, fail } = setup();
    fail(3);
    clock.setWall(-3_600_000);
    expect(breaker.openCircuitsOf('i')).toMatchObject([{ until: 30_000 - 3_600_000 }]);
    clock.setWall(7_200_000);
    expect(breaker.admits('i', 't')).toBe(false);
    clock.advance(30_000);
    expect(breaker.admits('i', 't')).toBe(true);
  });

  test('[BR1] [BR8] those that failed longest ago are forgotten, on disk too', async () => {
    const { breaker, store } = setup();
    // Of one instance as of many: a client may register ever new names.
    for (let n = 0; n < 1_500; n += 1) {
      for (let i = 0; i < 3; i += 1) breaker.failed(`i${n % 2}`, `t${n}`);
    }
    expect(breaker.admits('i0', 't0')).toBe(true);
    expect(breaker.admits('i1', 't1499')).toBe(false);
    const kept = await store.listKept('breaker');
    expect([kept.length, kept.at(-1)?.value]).toMatchObject([1_000, { tool: 't1499' }]);
  });

  test('[BR1] what is listed of it takes no longer for the others that were passed over', () => {
    const { breaker } = setup();
    for (let n = 0; n < 1_000; n += 1) {
      for (let i = 0; i < 3; i += 1) breaker.failed(`i${n}`, 't');
    }
    const begun = performance.now();
    const listed = Array.from({ length: 20_000 }, (_, n) => breaker.openCircuitsOf(`i${n}`));
    expect(listed.flat()).toHaveLength(1_000);
    // To look at all of them takes more than half a second.
    expect(performance.now() - begun).toBeLessThan(200);
    breaker.delivered('i7', 't');
    expect(breaker.openCircuitsOf('i7')).toEqual([]);
  });
});
