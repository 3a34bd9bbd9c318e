import { expect, test } from 'vitest';
import { sampleCall, sampleEvent } from '#lib/call/testing/sample-call';
import { fromEventsColumn, needsRow, toEventText } from './event-text.ts';

const result = { text: 'r'.repeat(10_000) };
const display = { text: 'd'.repeat(10_000) };
const answered = sampleEvent({
  patch: { result, display, preview: undefined },
  update: { status: 'SUCCESS', result: display },
});

test('[ST44] the event of an end refers to the result that the row of its call has', () => {
  const call = sampleCall({ status: 'SUCCEEDED', phase: null, result, display });
  const text = toEventText(answered, call);
  expect(text.length).toBeLessThan(1_000);
  expect(needsRow(text)).toBe(true);
  expect(fromEventsColumn(`[${text}]`, call)).toStrictEqual([answered]);
});

test.each([
  ['a call that goes on', sampleCall({ status: 'RUNNING', result, display })],
  ['a row that has another value', sampleCall({ status: 'FAILED', phase: null })],
])('[ST44] an event of %s has its values itself', (_, call) => {
  const text = toEventText(answered, call);
  expect(needsRow(text)).toBe(false);
  expect(fromEventsColumn(`[${text}]`)).toStrictEqual([answered]);
});

test('what a caller names like a reference is none', () => {
  const args = { in_row: ['result'], text: '"in_row":["result"]' };
  const event = sampleEvent({ patch: { args }, update: { params: args } });
  const text = toEventText(event, sampleCall({ status: 'SUCCEEDED', phase: null, result }));
  expect(fromEventsColumn(`[${text}]`, { result, display })).toStrictEqual([event]);
});
