import { expect, test } from 'vitest';
import type { Call } from '#lib/call/call';
import { type ModelOutput, outputOfRecord } from '#lib/call/model-output';
import { sampleCall } from '#lib/call/testing/sample-call';
import type { Message } from '#lib/protocol/run';
import { outputFor, readCalls } from './turn.ts';
import { readProgress } from './turn-ending.ts';

const MIB = 1024 * 1024;
const ended = { status: 'SUCCEEDED', phase: null, completedAt: 2 } as const;

const counting = { written: new Map<string, string>(), deps: { isPolling: () => false } };

/** A turn whose messages name these calls. */
function turnOf(records: readonly Call[]) {
  const byId = new Map(records.map((record) => [record.id, record]));
  const message: Message = {
    ...{ message_id: 'msg_1', run_id: 'run_1', role: 'assistant', status: 'done', created_at: 0 },
    parts: records.map(({ id }) => ({ type: 'tool_call', tool_call_id: id })),
  };
  return {
    deps: { calls: { get: async (id: string) => byId.get(id) }, resultBytes: 32_768 },
    finals: new Map<string, Call>(),
    outputs: new WeakMap<Call, ModelOutput>(),
    transcript: { messages: () => [message] },
  };
}

const big = (at: number, result: unknown = `${'line '.repeat(MIB / 5)}end`) =>
  sampleCall({ ...ended, id: `tc_${at}`, toolName: 'log.read', args: { a: 1 }, result });

test('[AL126] of 20 results of 1 MiB a turn keeps what the model is sent, and knows the repeats', async () => {
  const records = Array.from({ length: 20 }, (_, at) => big(at));
  const turn = turnOf(records);
  const kept = await readCalls(turn);
  expect(JSON.stringify([...turn.finals.values()]).length).toBeLessThan(100_000);
  expect(kept.map((record) => outputFor(turn, record))).toEqual(
    records.map((record) => outputOfRecord(record, 32_768)),
  );
  expect(await readCalls(turn)).toEqual(kept);
  const progress = readProgress(counting, [], kept);
  expect(progress.repeated).toMatchObject([{ toolName: 'log.read', count: 20 }]);
  expect(progress.isRepeated('log.read', { a: 1 })).toBe(true);
});

test('[AL126] results that differ in what the model was not sent are no repeats', async () => {
  const half = 'line '.repeat(MIB / 10);
  const turn = turnOf([1, 2, 3, 4].map((at) => big(at, `${half}${at}${half}`)));
  expect(readProgress(counting, [], await readCalls(turn)).repeated).toEqual([]);
});

test('[AL126] of a failure with a long message the code stays, and what the model is sent', async () => {
  const error = { code: 'tool_error', message: 'x'.repeat(MIB), executed: 'yes' } as const;
  const failed = sampleCall({ ...ended, id: 'tc_1', status: 'FAILED', error });
  const turn = turnOf([failed]);
  const [kept] = await readCalls(turn);
  expect(kept?.error).toMatchObject({ code: 'tool_error', executed: 'yes' });
  expect(kept?.error?.message).toHaveLength(1_000);
  expect(outputFor(turn, kept)).toEqual(outputOfRecord(failed, 32_768));
});

test('[AL126] what the model is sent whole is kept whole', async () => {
  const small = big(1, { tools: [{ name: 'log.read' }] });
  const [kept] = await readCalls(turnOf([small]));
  expect(kept).toBe(small);
});
