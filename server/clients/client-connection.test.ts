import { expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { ProbeLatency } from './client-connection.ts';

function setup() {
  const clock = createManualClock();
  const latency = new ProbeLatency(clock.now);
  let probes = 0;
  return {
    latency,
    /** A probe that is answered after so long. */
    probe(ms: number) {
      probes += 1;
      latency.sent(`nonce_${probes}`);
      clock.advance(ms);
      return latency.answered(`nonce_${probes}`);
    },
  };
}

test('[LV22] the answer to a probe gives the time since it, and the first one counts', () => {
  const { probe } = setup();
  expect(probe(31)).toBe(31);
});

test('[LV22] a small difference is none, a large one is new', () => {
  const { probe } = setup();
  expect([100, 110, 124, 126].map(probe)).toEqual([100, undefined, undefined, 126]);
  expect([20, 5, 30, 31].map(setup().probe)).toEqual([20, 5, 30, undefined]);
});

test('[LV22] an answer to another probe, or a second one, is not measured', () => {
  const { latency } = setup();
  latency.sent('a');
  expect(latency.answered('b')).toBeUndefined();
  expect(latency.answered('a')).toBe(0);
  expect(latency.answered('a')).toBeUndefined();
});
