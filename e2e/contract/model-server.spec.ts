import { modelsAnswerSchema } from '../../lib/protocol/rest.ts';
import { type RunRecord, runRecordSchema } from '../../lib/protocol/run.ts';
import {
  createScriptedOpenAI,
  type Script,
  type ScriptedOpenAI,
} from '../../server/testing/scripted-openai.ts';
import type { Callboard } from '../start-callboard.ts';
import { configFile } from '../support/config-file.ts';
import { type Answered, get, post } from './kit/ask.ts';
import { expect, test } from './kit/contract-test.ts';
import { spec } from './kit/tool-client.ts';

const open: ScriptedOpenAI[] = [];
test.afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function serveModels(script: Script): Promise<ScriptedOpenAI> {
  const openai = await createScriptedOpenAI({ script, models: ['qwen3:8b', 'llava:7b'] });
  open.push(openai);
  return openai;
}

const runOf = (answer: Answered): RunRecord => {
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return runRecordSchema.parse(answer.body);
};

async function ended(board: Callboard, id: string): Promise<RunRecord> {
  const read = async () => runOf(await get(board, `/v1/runs/${id}`));
  await expect.poll(async () => (await read()).status, { timeout: 20_000 }).not.toBe('running');
  return read();
}

const models = async (board: Callboard) =>
  modelsAnswerSchema.parse((await get(board, '/v1/models')).body).models;

test('§3 a server of models that is down at the start is named, waited for, and used once it is up', async ({
  startServer,
}) => {
  const openai = await serveModels(() => ({ text: 'From the real one.' }));
  openai.setDown(true);
  const board = await startServer({ env: { OPENAI_BASE_URL: openai.url } });
  expect(board.log()).toContain(`none yet. OPENAI_BASE_URL is set to ${openai.url}, which did`);
  expect(board.log()).not.toContain('set OPENAI');
  expect(await models(board)).toMatchObject([
    { model: 'compatible', default: true, available: false },
    { model: 'rehearsal', default: false },
  ]);

  const { run_id } = runOf(await post(board, '/v1/runs', { input: 'What is 2+3*4?' }));
  const failed = await ended(board, run_id);
  expect(failed).toMatchObject({ status: 'failed', error: { code: 'endpoint_silent' } });
  const parts = failed.messages.flatMap((message) => message.parts);
  expect(parts.map(({ type }) => type)).toEqual(['text', 'notice']);

  openai.setDown(false);
  runOf(await post(board, `/v1/runs/${run_id}/messages`, { input: 'Again' }));
  const done = await ended(board, run_id);
  expect(done).toMatchObject({ status: 'idle', model: 'compatible:qwen3:8b' });
  expect(JSON.stringify(done.messages)).toContain('From the real one.');
  expect((await models(board)).map(({ model }) => model)).toEqual([
    'compatible:qwen3:8b',
    'compatible:llava:7b',
    'rehearsal',
  ]);
});

test('§3 it is asked in the background too, and the server prints the model that it uses then', async ({
  startServer,
}) => {
  const openai = await serveModels(() => ({}));
  openai.setDown(true);
  const board = await startServer({ env: { OPENAI_BASE_URL: openai.url } });
  openai.setDown(false);
  await expect.poll(() => board.log(), { timeout: 30_000 }).toContain('Model: compatible:qwen3:8b');
  expect(openai.timesListed).toBe(1);
});

test('§6 a tool that a run was not given does not run, whatever the model writes', async ({
  connect,
  startServer,
}) => {
  const openai = await serveModels(({ index }) =>
    index === 0
      ? {
          calls: [
            { name: 'gate_open', args: { n: 1 } },
            { name: 'Calculation.Eval', args: { expression: '6*7' } },
            { name: '', args: {} },
          ],
        }
      : { text: 'done' },
  );
  const board = await startServer({ env: { OPENAI_BASE_URL: openai.url } });
  const client = await connect.client(board, { tools: [spec('gate_open')] });
  const body = { input: 'go', tools: ['calculation.eval'] };
  const { run_id } = runOf(await post(board, '/v1/runs', body));
  expect(await ended(board, run_id)).toMatchObject({ status: 'idle' });
  const { tool_calls } = (await get(board, `/v1/tool_calls?run_id=${run_id}`)).body as {
    tool_calls: { tool_name: string; status: string; error: unknown }[];
  };
  const byName = Object.fromEntries(tool_calls.map((call) => [call.tool_name, call]));
  expect(byName).toMatchObject({
    gate_open: { status: 'FAILED', error: { executed: 'no', reason: 'not_offered' } },
    'calculation.eval': { status: 'SUCCEEDED' },
    '(no name)': { status: 'FAILED', error: { executed: 'no', reason: 'no_name' } },
  });
  expect(client.all('tool_call_request')).toEqual([]);
});

test('§3 a model that is configured without tool calling calls tools in its text', async ({
  startServer,
}, testInfo) => {
  const openai = await serveModels(({ index }) =>
    index === 0
      ? {
          text: 'I calculate.\n<tool_call>{"name": "calculation_eval", "arguments": {"expression": "6*7"}}</tool_call>',
        }
      : { text: 'It is 42.' },
  );
  const file = await configFile(testInfo, {
    models: { 'compatible:qwen3:8b': { tool_calling: 'text', images: false } },
  });
  const env = { OPENAI_BASE_URL: openai.url, CALLBOARD_CONFIG: file };
  const board = await startServer({ env });
  expect((await models(board))[0]).toMatchObject({ tool_calling: 'text', images: false });
  const { run_id } = runOf(await post(board, '/v1/runs', { input: 'six times seven' }));
  const run = await ended(board, run_id);
  expect(run.messages.flatMap(({ parts }) => parts.map(({ type }) => type))).toEqual([
    ...['text', 'text', 'tool_call', 'text'],
  ]);
  expect((await get(board, `/v1/tool_calls?run_id=${run_id}`)).body).toMatchObject({
    tool_calls: [{ tool_name: 'calculation.eval', status: 'SUCCEEDED' }],
  });
  expect(openai.requests[0]?.toolNames).toEqual([]);
  expect(JSON.stringify(openai.requests[1]?.body)).toContain('42');
});
