import { createHash } from 'node:crypto';
import { modelOutputSchema } from '../../lib/protocol/model-turn.ts';
import { modelTurnsPageSchema } from '../../lib/protocol/rest.ts';
import { runRecordSchema } from '../../lib/protocol/run.ts';
import type { Callboard } from '../start-callboard.ts';
import { expect, held, test } from '../support/scripted-run.ts';
import { get, post, refusalOf } from './kit/ask.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

async function start(board: Callboard, input: string): Promise<string> {
  return runRecordSchema.parse((await post(board, '/v1/runs', { input })).body).run_id;
}

const ended = (board: Callboard, runId: string) =>
  expect
    .poll(async () => runRecordSchema.parse((await get(board, `/v1/runs/${runId}`)).body).status, {
      timeout: 30_000,
    })
    .toBe('idle');

const turnsOf = async (board: Callboard, runId: string, query = '') =>
  modelTurnsPageSchema.parse((await get(board, `/v1/runs/${runId}/model_turns${query}`)).body);

const outputOf = async (board: Callboard, callId: string) =>
  modelOutputSchema.parse((await get(board, `/v1/tool_calls/${callId}/model_output`)).body);

test('§6 what the model got of a call can be checked after the server was killed, and the request that it was cut off from is interrupted', async ({
  startScripted,
  startServer,
}) => {
  const hangs = held();
  const usage = { input: 900, output: 12, reasoning: 0, cached: 512 };
  const { board, openai } = await startScripted('chat', ({ index }) =>
    index === 0
      ? { calls: [{ name: 'calculation_eval', args: { expression: '6 * 7' } }], usage }
      : { text: '42', ...(index === 1 && { stall: { at: 1, until: hangs.until } }) },
  );
  const runId = await start(board, 'Six times seven?');
  await expect
    .poll(async () => (await turnsOf(board, runId)).model_turns.map(({ state }) => state))
    .toEqual(['done', 'running']);
  await expect.poll(() => openai.requests.length).toBe(2);
  await board.stop('SIGKILL');
  hangs.release();

  const again = await startServer({
    dataDir: board.dataDir,
    token: board.token,
    env: { CALLBOARD_MODEL: 'openai-chat:scripted', OPENAI_BASE_URL: openai.url },
  });
  await ended(again, runId);
  const { model_turns: turns, next_after } = await turnsOf(again, runId);
  expect(next_after).toBeNull();
  expect(turns).toMatchObject([
    {
      ...{ number: 1, turn: 1, step: 1, attempt: 1, state: 'done', finish_reason: 'tool-calls' },
      ...{ model: 'openai-chat:scripted', sent: [] },
      usage: { input_tokens: 900, output_tokens: 12, cached_tokens: 512 },
    },
    { number: 2, turn: 1, step: 2, attempt: 1, state: 'interrupted', ended_at: null },
    { number: 3, turn: 1, step: 2, attempt: 2, state: 'done', finish_reason: 'stop', sent: [] },
  ]);

  const [got] = openai.requests[1]?.toolResults ?? [];
  const [part] = turns[1]?.sent ?? [];
  if (!got || !part) throw new Error('the model got no result');
  expect(part).toEqual({
    ...{ tool_call_id: part.tool_call_id, cut: false, limit: 32 * 1024, images: [] },
    ...{ sha256: sha256(got.text), bytes: Buffer.byteLength(got.text) },
  });
  expect(await outputOf(again, part.tool_call_id)).toMatchObject({
    ...{
      tool_call_id: part.tool_call_id,
      status: 'SUCCEEDED',
      text: got.text,
      sha256: part.sha256,
    },
    sent: [{ number: 2, model: 'openai-chat:scripted', sha256: part.sha256 }],
  });
});

test('§6 requests of a run come by pages, and by message; those of no run are 404', async ({
  startScripted,
}) => {
  const { board } = await startScripted('chat', ({ index }) =>
    index < 3
      ? { calls: [{ name: 'calculation_eval', args: { expression: `${index}` } }] }
      : { text: 'Counted.' },
  );
  const runId = await start(board, 'Count.');
  await ended(board, runId);
  const numbers = async (query: string) => {
    const page = await turnsOf(board, runId, query);
    return [page.model_turns.map(({ number }) => number), page.next_after];
  };
  expect(await numbers('?limit=3')).toEqual([[1, 2, 3], 3]);
  expect(await numbers('?limit=3&after=3')).toEqual([[4], null]);
  const run = runRecordSchema.parse((await get(board, `/v1/runs/${runId}`)).body);
  const last = run.messages.at(-1)?.message_id ?? '';
  expect(await numbers(`?message_id=${last}`)).toEqual([[4], null]);
  // The record of the run does not grow by them.
  expect(JSON.stringify(run)).not.toContain('prompt_sha256');

  const missing = refusalOf(await get(board, '/v1/runs/run_x/model_turns'));
  expect(missing).toMatchObject({ status: 404, code: 'run_not_found' });
  const misshapen = refusalOf(await get(board, `/v1/runs/${runId}/model_turns?after=-1`));
  expect(misshapen).toMatchObject({ status: 400, code: 'bad_request' });
});

test('§6 a call that no model was sent has a text and no requests', async ({ callboard }) => {
  const invoked = await post(callboard, '/v1/tools/calculation.eval/invoke', {
    ...{ run_id: 'run_outside', args: { expression: '1+1' }, wait_ms: 10_000 },
  });
  const { tool_call_id } = invoked.body as { tool_call_id: string };
  const output = await outputOf(callboard, tool_call_id);
  expect(output.text).toContain('2');
  expect(output.sent).toEqual([]);
  expect((await turnsOf(callboard, 'run_outside')).model_turns).toEqual([]);
});
