import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { untilAborted } from './until-aborted.ts';

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
