import { expect, test } from 'vitest';
import { foldCalls, NO_CALLS } from './calls-store.ts';
import { findGap } from './find-gap.ts';
import { NO_RUNS } from './runs-store.ts';
import { callEvent, delta, message, messageEvent } from './testing/fixtures.ts';

test('[SF12] an update of a call that was never introduced shows a gap', () => {
  const update = callEvent(5, 'tc_a', { status: 'DOING' });
  expect(findGap(NO_CALLS, NO_RUNS, [update])).toBe(true);
  const introduced = callEvent(4, 'tc_a', { tool_name: 'device.info' });
  expect(findGap(NO_CALLS, NO_RUNS, [introduced, update])).toBe(false);
  expect(findGap(foldCalls(NO_CALLS, [introduced]), NO_RUNS, [update])).toBe(false);
});

test('[SF12] text of a message that was never introduced shows a gap', () => {
  const text = delta(5, 'm1', 0, 'Hello');
  expect(findGap(NO_CALLS, NO_RUNS, [text])).toBe(true);
  expect(findGap(NO_CALLS, NO_RUNS, [messageEvent(4, message('m1')), text])).toBe(false);
});

test('[SF12] a late result of a call that is no longer live is no gap', () => {
  const late = callEvent(5, 'tc_old', { late_result: true });
  expect(findGap(NO_CALLS, NO_RUNS, [late])).toBe(false);
});
