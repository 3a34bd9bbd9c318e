import { expect, test } from 'vitest';
import type { Card } from '#lib/protocol/card';
import type { EndedPart } from '#lib/protocol/watch-messages';
import type { ShownCall } from '../calls/call-service.ts';
import { createEndedParts, endedFrom } from './ended-parts.ts';

const call = (n: number, card: Partial<Card> = {}): ShownCall => ({
  id: `tc_${n}`,
  runId: 'run_1',
  createdAt: 1_700_000_000_000 + Math.floor(n / 3),
  card: { status: 'SUCCESS', tool_name: 'camera', params: {}, ...card },
});

/** All parts, as a watcher asks for one after the other; `between` changes what there is. */
function readAll(calls: ShownCall[], between = () => {}): EndedPart[] {
  const take = createEndedParts({ watched: () => calls });
  const parts: EndedPart[] = [];
  for (let from = endedFrom(calls) ?? null; from !== null; ) {
    const part = take(from);
    if (!part) throw new Error(`no part begins at ${from}`);
    parts.push(part);
    from = part.next;
    between();
  }
  return parts;
}

const idsOf = (parts: readonly EndedPart[]) =>
  parts.flatMap((part) => part.calls.map((one) => one.tool_call_id));
const sizeOf = (part: EndedPart) => Buffer.byteLength(JSON.stringify(part));

test('[WA16] the parts have the newest 200 ended calls, each once, newest first', () => {
  const calls = Array.from({ length: 250 }, (_, n) => call(n, { result: 'r'.repeat(700) }));
  const parts = readAll([...calls, call(999, { status: 'DOING' })]);
  const ids = idsOf(parts);
  expect(new Set(ids).size).toBe(200);
  expect(ids.toSorted()).toEqual(
    calls
      .slice(-200)
      .map(({ id }) => id)
      .toSorted(),
  );
  expect(parts.length).toBeGreaterThan(2);
});

test('[WA16] what ends and what goes between two parts changes nothing of the others', () => {
  const calls = Array.from({ length: 120 }, (_, n) => call(n, { result: 'r'.repeat(2_000) }));
  const before = calls.map(({ id }) => id);
  let next = 1_000;
  const parts = readAll(calls, () => {
    calls.push(call(next));
    next += 1;
    calls.splice(100, 1);
  });
  const ids = idsOf(parts);
  expect(parts.length).toBeGreaterThan(2);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => !before.includes(id))).toEqual([]);
  const first = calls.slice(0, 90).map(({ id }) => id);
  expect(first.filter((id) => !ids.includes(id))).toEqual([]);
});

test('[WA16] a part has 48 KiB, and all together are few, whatever the calls hold', () => {
  const values = Object.fromEntries(
    Array.from({ length: 16 }, (_, n) => [`${n}`, 'v'.repeat(1_000)]),
  );
  const card = { params: values, result: values, tip: 't'.repeat(9_000) };
  const parts = readAll(Array.from({ length: 200 }, (_, n) => call(n, card)));
  expect(Math.max(...parts.map(sizeOf))).toBeLessThanOrEqual(49 * 1024);
  expect(parts.length).toBeLessThanOrEqual(40);
  expect(idsOf(parts)).toHaveLength(200);
  // The newest are whole.
  expect(parts[0]?.calls[0]?.card).toMatchObject({ result: values });
});

test('[WA16] a place that names nothing gives what is older, or is refused', () => {
  const take = createEndedParts({ watched: () => [call(1)] });
  expect(take('0-0-99999999999999-tc_gone')?.calls).toHaveLength(1);
  expect(take('0-0-5-tc_older')).toEqual({ type: 'ended', calls: [], next: null });
  expect(take('0-200-99999999999999-tc_gone')?.calls).toEqual([]);
  for (const from of ['', 'tc_1', '-1-0-5-tc_1', '0-0--tc_1', 'a-0-5-tc_1']) {
    expect(take(from)).toBeUndefined();
  }
});
