import { expect, test } from 'vitest';
import { parseTraceparent, readTraceparent, spanOf, traceparentOf } from './trace-context.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CAME_IN = `00-${TRACE}-b7ad6b7169203331-01`;

test.each([
  [CAME_IN, CAME_IN],
  [`00-${TRACE}-b7ad6b7169203331-00`, `00-${TRACE}-b7ad6b7169203331-00`],
  // Bits that this version does not define are not passed on.
  [`00-${TRACE}-b7ad6b7169203331-03`, CAME_IN],
  [`cc-${TRACE}-b7ad6b7169203331-01-what-comes-later`, CAME_IN],
])('[TM10] %s is taken as %s', (text, read) => {
  expect(readTraceparent(text)).toBe(read);
});

test.each([
  undefined,
  7,
  '',
  'hello',
  `00-${TRACE}-b7ad6b7169203331`,
  `00-${TRACE}-b7ad6b7169203331-01-more`,
  `ff-${TRACE}-b7ad6b7169203331-01`,
  `00-${TRACE.toUpperCase()}-b7ad6b7169203331-01`,
  `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `${CAME_IN}, ${CAME_IN}`,
  `cc-${TRACE}-b7ad6b7169203331-01-${'x'.repeat(300)}`,
])('[TM10] %s is ignored', (text) => {
  expect(parseTraceparent(text)).toBeUndefined();
});

test('[TM9] the same call has the same span, and two calls have two', () => {
  const first = spanOf('tc_1', undefined);
  expect(spanOf('tc_1', undefined)).toEqual(first);
  expect(spanOf('tc_2', undefined).traceId).not.toBe(first.traceId);
  expect(spanOf('tc_2', undefined).spanId).not.toBe(first.spanId);
  expect(parseTraceparent(traceparentOf({ id: 'tc_1' }, true))).toEqual(first);
});

test('[TM18] a call is passed on by its own span where that is exported, else as it came', () => {
  const unsampled = `${CAME_IN.slice(0, -2)}00`;
  const own = traceparentOf({ id: 'tc_1', traceparent: CAME_IN }, true);
  expect(parseTraceparent(own)).toMatchObject({ traceId: TRACE, isSampled: true });
  expect(own).not.toBe(CAME_IN);
  expect(traceparentOf({ id: 'tc_1', traceparent: CAME_IN }, false)).toBe(CAME_IN);
  expect(traceparentOf({ id: 'tc_1', traceparent: unsampled }, true)).toBe(unsampled);
  expect(traceparentOf({ id: 'tc_1' }, false)).toBeUndefined();
});
