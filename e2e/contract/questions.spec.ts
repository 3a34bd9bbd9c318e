import { configFile } from '../support/config-file.ts';
import { get, post, recordOf, refusalOf } from './kit/ask.ts';
import { invoke, readCall } from './kit/calls.ts';
import { expect, test } from './kit/contract-test.ts';
import { asToken, decideOverAnyRoute, makeToken } from './kit/tokens.ts';

const CONFIG = { tools: { ask_human: {} } };
const QUESTION = {
  question: 'Which gate?',
  choices: [{ label: 'The north gate', value: 'north' }, { label: 'south' }],
};

test('ask_human is not there unless the configuration says so', async ({ startServer }) => {
  const board = await startServer();
  const refused = await post(board, '/v1/tools/ask_human/invoke', { run_id: 'r', args: QUESTION });
  expect(refusalOf(refused)).toMatchObject({ status: 404, code: 'tool_not_found' });
});

test('[CA60] neither an agent nor a viewer answers a question, over any route; a person does, once', async ({
  startServer,
  connect,
}, testInfo) => {
  const env = { CALLBOARD_CONFIG: await configFile(testInfo, CONFIG) };
  const board = await startServer({ env });
  const bot = await makeToken(board, { kind: 'agent', name: 'bot', tools: ['ask_human'] });
  const asBot = asToken(board, bot);
  const id = await invoke(asBot, 'ask_human', QUESTION, { run_id: 'run_bot' });
  const statuses = await decideOverAnyRoute(asBot, id);
  for (const path of ['approval', 'answer']) {
    expect(statuses.get(`POST /v1/tool_calls/{id}/${path}`), path).toBe(403);
  }
  const program = await connect.client(board, { tools: ['gate.open'] });
  program.send({ type: 'tool_result', id, output: 'north', success: true });
  expect(await program.next('result_rejected')).toMatchObject({ id, code: 'not_your_call' });
  const vera = await makeToken(board, { kind: 'operator', name: 'vera', role: 'viewer' });
  const olga = await makeToken(board, { kind: 'operator', name: 'olga' });
  const answer = (by: typeof board, output: unknown) =>
    post(by, `/v1/tool_calls/${id}/answer`, { output });
  expect((await answer(asToken(board, vera), 'north')).status).toBe(403);
  expect(await readCall(board, id)).toMatchObject({ status: 'PENDING', phase: 'approval' });
  expect((await get(board, '/v1/approvals')).body).toMatchObject({
    approvals: [{ tool_call_id: id, question: 'choice', reason: 'Which gate?' }],
  });

  const wrong = refusalOf(await answer(asToken(board, olga), 'east'));
  expect(wrong).toMatchObject({ status: 422, code: 'invalid_args' });
  const yes = await post(board, `/v1/tool_calls/${id}/approval`, { decision: 'yes' });
  expect(refusalOf(yes)).toMatchObject({ status: 409, code: 'conflict' });
  const record = recordOf(await answer(asToken(board, olga), 'north'));
  expect(record).toMatchObject({
    status: 'SUCCEEDED',
    result: { answer: 'north', answered_by: 'person' },
    card: { approval_decision: { by: 'operator:olga', decision: 'answer' } },
  });
  const again = refusalOf(await answer(board, 'south'));
  expect(again).toMatchObject({ status: 409, code: 'already_final' });
  expect(again.message).toContain('operator:olga answered it');
  expect((await get(board, '/v1/audit?actor=operator:olga')).body).toMatchObject({
    entries: [{ act: 'answered_by_hand', target: id, token_id: olga.id }],
  });
});

test('[CA60] a question that waits survives kill -9, and is answered once the server is back', async ({
  startServer,
}, testInfo) => {
  const env = { CALLBOARD_CONFIG: await configFile(testInfo, CONFIG) };
  const before = await startServer({ env });
  const id = await invoke(before, 'ask_human', QUESTION, { run_id: 'run_1' });
  await before.stop('SIGKILL');
  const after = await startServer({ env, dataDir: before.dataDir, token: before.token });
  expect(await readCall(after, id)).toMatchObject({
    ...{ phase: 'approval', args: { question: 'Which gate?', input: 'choice' } },
  });
  const declined = await post(after, `/v1/tool_calls/${id}/approval`, {
    ...{ decision: 'no', note: 'Neither: it is high tide' },
  });
  expect(recordOf(declined).error).toMatchObject({
    ...{ code: 'denied', executed: 'no' },
    message: 'A person declined to answer: Neither: it is high tide',
  });
});
