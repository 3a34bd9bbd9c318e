import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changed } from '#lib/call/testing/sample-call';
import { appendCall } from '../store/testing/store-setup.ts';
import { setupCalls, tool } from './testing/setup-calls.ts';

/** The same value, its keys in the opposite order, as after another serializer. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, one]) => [key, turned(one)]),
  );
}

/** As it is on disk: JSON has no -0. */
const anyOutput = fc.jsonValue().map((value): unknown => JSON.parse(JSON.stringify(value)));

const ANSWER = { at: '2026-11-21', reading: { level: 3.5, unit: 'm', of: [{ a: 1, b: null }] } };

test('[CA6] the same answer with its keys in another order is the same answer', async () => {
  const { connect, invoke, call } = await setupCalls();
  const gauge = connect('gauge');
  gauge.offer(tool('tide'));
  const { id } = await invoke('tide');
  await gauge.succeed(id, ANSWER);
  expect(await gauge.succeed(id, turned(ANSWER))).toMatchObject({ disposition: 'duplicate' });
  const other = { ...ANSWER, reading: { ...ANSWER.reading, unit: 'ft' } };
  expect(await gauge.succeed(id, turned(other))).toMatchObject({ code: 'conflict' });
  expect((await call(id)).result).toEqual(ANSWER);
});

test('[CA6] accepted or late, a repeated answer is judged alike', async () => {
  const { connect, invoke, clock, settle } = await setupCalls();
  const gauge = connect('gauge');
  gauge.offer(tool('tide', { timeout_ms: 300 }));
  await fc.assert(
    fc.asyncProperty(anyOutput, anyOutput, async (first, second) => {
      const accepted = await invoke('tide');
      await gauge.succeed(accepted.id, first);
      const late = await invoke('tide');
      clock.advance(300);
      await settle();
      await gauge.succeed(late.id, first);
      for (const next of [turned(first), second]) {
        const reported = [
          await gauge.succeed(accepted.id, next),
          await gauge.succeed(late.id, next),
        ];
        expect(new Set(reported.map((reply) => reply.type)).size).toBe(1);
      }
      expect(await gauge.succeed(accepted.id, turned(first))).toMatchObject({
        disposition: 'duplicate',
      });
    }),
    { numRuns: 30 },
  );
});

test('[CA6] an answer that was hashed by an older version is still recognized', async () => {
  const { connect, invoke, store, calls } = await setupCalls();
  const gauge = connect('gauge');
  gauge.offer(tool('tide'));
  const { id } = await invoke('tide');
  await gauge.succeed(id, ANSWER);
  const record = await calls.get(id);
  if (!record) throw new Error('no record');
  await store.write([
    appendCall(changed(record, { id: 'tc_old', resultHash: 'other', version: 1 })),
  ]);
  expect(await gauge.succeed('tc_old', ANSWER)).toMatchObject({ disposition: 'duplicate' });
  expect(await gauge.succeed('tc_old', { n: 1 })).toMatchObject({ code: 'conflict' });
});

test('[CA6] the same failure again is a duplicate, another one a conflict', async () => {
  const { connect, invoke } = await setupCalls();
  const gauge = connect('gauge');
  gauge.offer(tool('tide'));
  const { id } = await invoke('tide');
  await gauge.fail(id, 'dry', 'no_water');
  expect(await gauge.fail(id, 'dry', 'no_water')).toMatchObject({ disposition: 'duplicate' });
  expect(await gauge.fail(id, 'dry', 'broken')).toMatchObject({ code: 'conflict' });
  expect(await gauge.succeed(id, 'dry')).toMatchObject({ code: 'conflict' });
});

test.each([
  ['cancelled', 'cancelled', 'unknown'],
  ['outcome_unknown', 'outcome_unknown', 'unknown'],
  ['result_too_large', 'result_too_large', 'yes'],
  ['no_water', 'tool_error', 'yes'],
])('[CA28] a failure that a client calls %s ends the call as %s', async (word, code, executed) => {
  const { connect, invoke, call } = await setupCalls();
  const gauge = connect('gauge');
  gauge.offer(tool('tide'));
  const { id } = await invoke('tide');
  await gauge.fail(id, 'dry', word);
  expect((await call(id)).error).toMatchObject({ code, executed, message: 'dry' });
});
