import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Card, CardUpdate } from '../protocol/card.ts';
import { boundCard, boundUpdate, mergeCard, summaryOfCard } from './merge-card.ts';

const LIMIT = 16 * 1024;
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value) ?? '');
const large = 'é'.repeat(20_000);

test('[CM8] what is over the limit is a preview with the size of the whole; what is not stays itself', () => {
  const update: CardUpdate = {
    params: { body: large, to: 'ada' },
    result: large,
    preview: [large],
    error: { code: 'tool_error', message: large, executed: 'yes' },
    status: 'DOING',
  };
  const bounded = boundUpdate(undefined, update);
  expect(bounded).toMatchObject({
    truncated: true,
    params_bytes: bytesOf(update.params),
    result_bytes: 40_000,
    preview_bytes: bytesOf(update.preview),
    error_bytes: bytesOf(update.error),
    status: 'DOING',
    params: { to: 'ada' },
    error: { code: 'tool_error', executed: 'yes' },
  });
  expect(large.startsWith(String(bounded.result))).toBe(true);
  const { params, result, preview, error } = bounded;
  for (const value of [params, result, preview, error]) expect(bytesOf(value)).toBeLessThan(2_200);

  const small = { params: { a: 1 }, result: 'x'.repeat(LIMIT - 2), preview: null, error: null };
  expect(boundUpdate(undefined, small)).toEqual(small);
  expect(boundUpdate(undefined, { result: `${small.result}x` }).result_bytes).toBe(LIMIT - 1);
});

test('[CM8] of arguments that are still being written the ends are shown', () => {
  const text = `${'a'.repeat(30_000)} and so on`;
  const { params } = boundUpdate(undefined, { params: { text }, partial: true });
  expect(params?.text).toMatch(/^…a+ and so on$/);
  expect(boundUpdate(undefined, { params: { text } }).params?.text).toMatch(/^a+…$/);
});

test('[CM9] a value that is small again takes its size back, and the mark with the last of them', () => {
  const merge = (card: Card | undefined, update: CardUpdate) =>
    mergeCard(card, boundUpdate(card, update));
  const both = merge(merge(undefined, { params: { large } }), { preview: large });
  const one = merge(both, { preview: 'small' });
  expect(one).toMatchObject({ truncated: true, preview: 'small', preview_bytes: null });
  const reported = merge(one, { params: { more: 'beside them' } });
  expect(reported).toMatchObject({ truncated: true, params_bytes: one.params_bytes });
  const none = merge(reported, { params: { large: 'no more' }, params_whole: true });
  expect(none).toMatchObject({ truncated: false, params_bytes: null });
  expect(merge(none, { tip: 'on' })).toEqual({ ...none, tip: 'on' });
});

test('[CM10] a card that is bounded stays as it is', () => {
  const json = fc.jsonValue({ maxDepth: 2 });
  fc.assert(
    fc.property(json, json, fc.boolean(), (result, preview, isLarge) => {
      const update = { params: { large: isLarge ? large : 'small' }, result, preview };
      const once = boundCard(update);
      expect(boundCard(once)).toEqual(once);
    }),
  );
});

test('[CM12] a summary has the beginning of each value over 1 kB, marked, and the size of the whole', () => {
  const text = 'é'.repeat(3_000);
  const card: Card = {
    status: 'DOING',
    tip: text,
    params: { body: text, to: 'ada' },
    result: text,
    preview: [text],
    error: { code: 'tool_error', message: text, executed: 'yes' },
    status_params: { step: text },
  };
  const summary = summaryOfCard(card);
  expect(summary).toMatchObject({
    status: 'DOING',
    truncated: true,
    params: { to: 'ada' },
    params_bytes: bytesOf(card.params),
    result_bytes: 6_000,
    preview_bytes: bytesOf(card.preview),
    error_bytes: bytesOf(card.error),
  });
  const { tip, params, result, preview, error, status_params } = summary;
  for (const value of [tip, params, result, preview, error?.message, status_params]) {
    expect(bytesOf(value)).toBeLessThanOrEqual(1_010);
  }
});

test('[CM12] the summary of a preview keeps the size of the whole; of a small card it is the card', () => {
  const shown = boundCard({ params: {}, result: large });
  const summary = summaryOfCard(shown);
  expect(summary).toMatchObject({ truncated: true, result_bytes: 40_000 });
  expect(bytesOf(summary.result)).toBeLessThanOrEqual(1_000);
  const small: Card = { status: 'SUCCESS', params: { a: 1 }, result: 'ok', tip: null };
  expect(summaryOfCard(small)).toEqual(small);
});
