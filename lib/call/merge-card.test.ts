import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Card, CardUpdate } from '../protocol/card.ts';
import { isFinalCard, mergeCard } from './merge-card.ts';

const fold = (updates: readonly CardUpdate[], from?: Card) =>
  updates.reduce<Card | undefined>(mergeCard, from);

test('[CM1] parameters told while waiting are still there at the end', () => {
  const card = fold([
    { status: 'WAIT', params: { quality: 'low' } },
    { status: 'DOING', params: { facing: 'user', quality: 'high' } },
    { status: 'SUCCESS', result: 1 },
  ]);
  expect(card?.params).toEqual({ quality: 'high', facing: 'user' });
});

test('[CM1] a parameter cannot reach a prototype', () => {
  const update: CardUpdate = { params: JSON.parse('{"__proto__":{"polluted":true},"a":1}') };
  const card = fold([{ status: 'WAIT' }, update]);
  expect(Object.keys(card?.params ?? {})).toEqual(['a']);
  expect('polluted' in {}).toBe(false);
});

test('[CM2] progress never falls, and keeps its total', () => {
  const card = fold([
    { status: 'DOING', progress: { done: 3, total: 4 } },
    { progress: { done: 1 } },
  ]);
  expect(card?.progress).toEqual({ done: 3, total: 4 });
});

test('[CM3] what is not given stays, and null is given', () => {
  const card = fold([
    { status: 'DOING', tip: 'Focusing', phase: 'granted' },
    { tip: undefined, preview: 0 },
    { phase: null },
  ]);
  expect(card).toMatchObject({ tip: 'Focusing', preview: 0, phase: null });
});

test('[CM4] a late WAIT adds a tip without leaving DOING', () => {
  const card = fold([
    { status: 'DOING', phase: 'granted' },
    { status: 'WAIT', phase: 'queued', tip: 'late' },
  ]);
  expect(card).toMatchObject({ status: 'DOING', phase: 'granted', tip: 'late' });
});

test('[CM5] a late error does not undo a success; a late result only leaves its mark', () => {
  const done = fold([{ status: 'SUCCESS', result: 'first', params: { a: 1 } }]);
  if (!done) throw new Error('no card');
  expect(mergeCard(done, { status: 'ERROR', result: 'second', params: { a: 2 } })).toBe(done);
  expect(mergeCard(done, { late_result: true })).toEqual({ ...done, late_result: true });
});

test('[CM11] whole arguments replace what was shown, and what a client reports is beside them', () => {
  const card = fold([
    { status: 'WAIT', params: { to: 'Ann', memo: 'half' }, partial: true },
    { params: { to: 'Ann', amount: 5 }, params_whole: true },
    { params: { lens: 'wide' }, status_params: { lens: 'wide', amount: 1 } },
    { params: { lens: 'tele' }, status_params: { lens: 'tele' } },
  ]);
  expect(card?.params).toEqual({ to: 'Ann', amount: 5, lens: 'tele' });
  expect(card?.status_params).toEqual({ lens: 'tele', amount: 1 });
  expect(card && mergeCard(card, { params_whole: true })).toBe(card);
});

test('[CM6] an update that changes nothing gives back the very same card', () => {
  const card = fold([{ status: 'DOING', params: { a: { b: [1, 2] } }, progress: { done: 1 } }]);
  if (!card) throw new Error('no card');
  expect(mergeCard(card, { params: { a: { b: [1, 2] } }, progress: { done: 0 } })).toBe(card);
  expect(mergeCard(card, {})).toBe(card);
});

/** As updates come: out of JSON text, so without -0 and the like. */
const anyUpdate: fc.Arbitrary<CardUpdate> = fc
  .record(
    {
      status: fc.constantFrom('WAIT', 'DOING', 'SUCCESS', 'ERROR'),
      phase: fc.constantFrom('queued', 'offered', 'granted', null),
      params: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.jsonValue({ maxDepth: 1 })),
      params_whole: fc.constant(true),
      status_params: fc.dictionary(fc.constantFrom('a', 'b'), fc.jsonValue({ maxDepth: 1 })),
      tip: fc.option(fc.string({ maxLength: 4 }), { nil: null }),
      preview: fc.jsonValue({ maxDepth: 1 }),
      result: fc.jsonValue({ maxDepth: 1 }),
      progress: fc.oneof(
        fc.record({ done: fc.nat(9) }),
        fc.record({ done: fc.nat(9), total: fc.integer({ min: 1, max: 9 }) }),
      ),
    },
    { requiredKeys: [] },
  )
  .map((update) => JSON.parse(JSON.stringify(update)));
const RANK = { WAIT: 0, DOING: 1, SUCCESS: 2, ERROR: 2 } as const;

test('[CM7] a snapshot at any cut and the rest give the card of all updates', () => {
  fc.assert(
    fc.property(fc.array(anyUpdate, { maxLength: 30 }), fc.nat(30), (updates, cut) => {
      const snapshot = fold(updates.slice(0, cut));
      const sent: Card | undefined = snapshot && JSON.parse(JSON.stringify(snapshot));
      expect(fold(updates.slice(cut), sent)).toEqual(fold(updates));
    }),
    { numRuns: 500 },
  );
});

test('[CM4] no order of updates leaves a final status or lowers a status or the progress', () => {
  fc.assert(
    fc.property(fc.array(anyUpdate, { maxLength: 30 }), (updates) => {
      let card: Card | undefined;
      for (const update of updates) {
        const next = mergeCard(card, update);
        if (card && isFinalCard(card)) expect(next).toBe(card);
        expect(RANK[next.status ?? 'WAIT']).toBeGreaterThanOrEqual(RANK[card?.status ?? 'WAIT']);
        expect(next.progress?.done ?? 0).toBeGreaterThanOrEqual(card?.progress?.done ?? 0);
        card = next;
      }
    }),
    { numRuns: 500 },
  );
});

test('[CM13] a value given whole takes back the size of the one before, also on a card that was a summary', () => {
  const summary: Card = {
    params: { a: 'cut' },
    params_bytes: 5_000,
    preview: 'cut',
    preview_bytes: 4_000,
    truncated: true,
  };
  const one = mergeCard(summary, { preview: 'small' });
  expect(one).toMatchObject({ preview: 'small', preview_bytes: null, truncated: true });
  // Some of the arguments say nothing of the others.
  expect(mergeCard(one, { params: { b: 1 } }).params_bytes).toBe(5_000);
  const whole = mergeCard(one, { params: { b: 1 }, params_whole: true });
  expect(whole).toMatchObject({ params: { b: 1 }, params_bytes: null, truncated: false });
  expect(mergeCard(summary, { tip: 'goes on' })).toMatchObject({ preview_bytes: 4_000 });
  // A whole that reads like the beginning that was shown.
  expect(mergeCard(summary, { preview: 'cut' })).toMatchObject({ preview_bytes: null });
});
