import { getEventListeners } from 'node:events';
import { expect, test, vi } from 'vitest';
import { untilAborted } from './browser-page.ts';

test('[PG13] a second copy of the library gives the client of the first', async () => {
  vi.resetModules();
  const first = await import('./browser-page.ts');
  vi.resetModules();
  const second = await import('./browser-page.ts');
  expect(second.pageCallboard).not.toBe(first.pageCallboard);
  expect(second.pageCallboard()).toBe(first.pageCallboard());
});

test('[PG13] nothing of a page is needed before it is used', async () => {
  const { callboard } = await import('./module.ts');
  expect(callboard.tool({ name: 'a', description: 'b', execute: () => 1 })).toBeTypeOf('function');
  expect(callboard.status.get()).toBe('off');
});

/** A wait, what ends it, and how often what it began was ended. */
function waiting() {
  const aborting = new AbortController();
  const { signal } = aborting;
  let fire = () => {};
  let ended = 0;
  const wait = untilAborted(signal, (done) => {
    fire = done;
    return () => {
      ended += 1;
    };
  });
  const left = () => ({ ended, listeners: getEventListeners(signal, 'abort').length });
  return { wait, fire: () => fire(), abort: () => aborting.abort(), left };
}

test.each(['fire', 'abort'] as const)(
  '[PG29] a wait that ends by %s leaves no listener at the page or the signal',
  async (how) => {
    const waits = waiting();
    expect(waits.left()).toEqual({ ended: 0, listeners: 1 });
    waits[how]();
    await waits.wait;
    expect(waits.left()).toEqual({ ended: 1, listeners: 0 });
  },
);
