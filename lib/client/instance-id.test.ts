import { expect, test } from 'vitest';
import { createInstanceId, type InstanceLocks } from './instance-id.ts';
import { createManualClock } from './testing/manual-clock.ts';

/** Locks of one browser: the second to ask waits until the first lets go. */
function createLocks(): InstanceLocks {
  const held = new Map<string, Promise<void>>();
  return {
    request(name, { signal }, whileHeld) {
      return new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        const take = async () => {
          if (signal.aborted) return;
          const holding = whileHeld();
          held.set(name, holding);
          await holding;
          resolve(undefined);
        };
        const free = held.get(name) ?? Promise.resolve();
        void free.then(take);
      });
    },
  };
}

function setup() {
  const clock = createManualClock();
  const locks = createLocks();
  let ids = 0;
  const environment = {
    schedule: clock.schedule,
    newId: () => {
      ids += 1;
      return `instance-${ids}`;
    },
  };
  /** A tab with its storage; a duplicated tab gets a copy of it. */
  const tab = (items: Map<string, string>) =>
    createInstanceId({
      environment,
      locks,
      storage: {
        getItem: (key) => items.get(key) ?? null,
        setItem: (key, value) => void items.set(key, value),
        removeItem: (key) => void items.delete(key),
      },
    });
  return { clock, tab };
}

test('[CL15] a reloaded page has the id that it had before', async () => {
  const { tab } = setup();
  const items = new Map<string, string>();
  const before = tab(items);
  const id = await before.take();
  before.release();
  expect(await tab(items).take()).toBe(id);
});

test('[CL15] a duplicated tab takes a new id, and keeps that', async () => {
  const { tab, clock } = setup();
  const items = new Map<string, string>();
  const id = await tab(items).take();
  const copied = new Map(items);
  const taking = tab(copied).take();
  clock.advance(500);
  const second = await taking;
  expect(second).not.toBe(id);
  expect([...copied.values()]).toEqual([second]);
});

test('[CL15] a renewed id is another one, and the old one is free', async () => {
  const { tab } = setup();
  const items = new Map<string, string>();
  const copied = new Map<string, string>();
  const page = tab(items);
  const id = await page.take();
  for (const [key, value] of items) copied.set(key, value);
  expect(await page.renew()).not.toBe(id);
  expect(await tab(copied).take()).toBe(id);
});
