import { expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { publishListings } from './publish-listings.ts';

function setup() {
  const clock = createManualClock();
  const published: string[] = [];
  const changed: Record<'tools' | 'clients' | 'breaker', () => void> = {
    tools: () => {},
    clients: () => {},
    breaker: () => {},
  };
  const stop = publishListings({
    clock,
    bus: { publish: ({ type }) => published.push(type) },
    registry: {
      list: () => [],
      onChange: (listener) => {
        changed.tools = listener;
        return () => {};
      },
    },
    clients: {
      listings: () => [],
      onChange: (listener) => {
        changed.clients = listener;
      },
    },
    breaker: {
      onChange: (listener) => {
        changed.breaker = listener;
      },
    },
  });
  return { clock, published, changed, stop };
}

test.each(['tools', 'clients', 'breaker'] as const)(
  '[BR6] when the %s change, both lists are told again, once for many changes',
  (who) => {
    const { clock, published, changed } = setup();
    for (let time = 0; time < 5; time += 1) changed[who]();
    expect(published).toEqual([]);
    clock.advance(50);
    expect(published).toEqual(['tools', 'clients']);
  },
);

test('[BR6] after the stop nothing more is told', () => {
  const { clock, published, changed, stop } = setup();
  changed.breaker();
  stop();
  clock.advance(50);
  expect(published).toEqual([]);
});
