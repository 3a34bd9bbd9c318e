import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergeCard, mergeUpdates } from '#lib/call/merge-card';
import type { Card, CardUpdate } from '#lib/protocol/card';
import type { WatchEvent } from '#lib/protocol/watch-messages';
import { createMissedEvents } from './merge-events.ts';

const call = (seq: number, id: string, update: CardUpdate): WatchEvent => ({
  type: 'call',
  seq,
  tool_call_id: id,
  run_id: 'run_1',
  update,
});

const STEPS: readonly CardUpdate[] = [
  { status: 'WAIT', phase: 'queued' },
  { status: 'DOING', phase: 'granted' },
  { status: 'SUCCESS', phase: null, result: 1 },
];
const someParams = fc.dictionary(fc.constantFrom('a', 'b'), fc.nat(3));
const aside = fc.record(
  {
    params: someParams,
    status_params: someParams,
    tip: fc.string({ maxLength: 3 }),
    progress: fc.record({ done: fc.nat(5) }),
  },
  { requiredKeys: [] },
);
const edit = fc.record({ params: someParams, params_whole: fc.constant(true) });
/** What a server publishes of one call: its steps in order, with other news between them. */
const anyLife = fc
  .array(fc.array(fc.oneof(aside, edit), { maxLength: 3 }), { minLength: 3, maxLength: 3 })
  .map((news) => STEPS.flatMap((step, index) => [step, ...(news[index] ?? [])]));

test('[WA1] merged updates have the effect of the updates one by one, whatever was seen before', () => {
  fc.assert(
    fc.property(anyLife, fc.nat(12), fc.nat(12), (life, a, b) => {
      const [from, to] = [Math.min(a, b), Math.max(a, b)];
      const seen = life.slice(0, from).reduce<Card | undefined>(mergeCard, undefined);
      const missed = life.slice(from, to);
      const [first, ...rest] = missed;
      if (!first) return;
      const merged = rest.reduce(mergeUpdates, first);
      expect(mergeCard(seen, merged)).toEqual(missed.reduce<Card | undefined>(mergeCard, seen));
    }),
    { numRuns: 1_000 },
  );
});

test('[WA2] one update is kept per call, in order of the newest number', () => {
  const missed = createMissedEvents(10);
  missed.add(call(1, 'tc_a', { status: 'WAIT' }));
  missed.add(call(2, 'tc_b', { status: 'WAIT' }));
  missed.add(call(3, 'tc_a', { tip: 'later' }));
  expect(missed.take()).toEqual([
    call(2, 'tc_b', { status: 'WAIT' }),
    call(3, 'tc_a', { status: 'WAIT', tip: 'later' }),
  ]);
  expect(missed.take()).toEqual([]);
});

test('[WA3] of more calls than it may hold, and of a model that writes, only a snapshot helps', () => {
  const many = createMissedEvents(2);
  for (const n of [1, 2, 3]) many.add(call(n, `tc_${n}`, { status: 'WAIT' }));
  expect(many.take()).toBe('snapshot');
  const writing = createMissedEvents(2);
  writing.add({
    type: 'message_delta',
    seq: 1,
    run_id: 'run_1',
    message_id: 'msg_1',
    index: 0,
    part: 'text',
    delta: 'x',
  });
  expect(writing.take()).toBe('snapshot');
  expect(writing.take()).toEqual([]);
});
