import { toolsAnswerSchema } from '../../lib/protocol/rest.ts';
import { get, post, refusalOf } from './kit/ask.ts';
import { invoke, readCall } from './kit/calls.ts';
import { expect, sharedCallboard, test } from './kit/contract-test.ts';
import { spec, type ToolClient } from './kit/tool-client.ts';

const board = sharedCallboard();

/** The ids of the clients that serve a tool, in the order in which they would be asked. */
async function order(name: string): Promise<string[]> {
  const { tools } = toolsAnswerSchema.parse((await get(board(), '/v1/tools')).body);
  return tools.find((tool) => tool.name === name)?.clients.map((one) => one.client_id) ?? [];
}

/** Touched until the order shows it: it counts by the millisecond, so the clock has to move on. */
const touch = (client: ToolClient, tool: string, id: string) =>
  expect
    .poll(async () => {
      client.send({ type: 'client_state', touched: true });
      await client.settled();
      return (await order(tool))[0];
    })
    .toBe(id);

test('§5 of several clients the one that a person touched last is asked, not the one that answered last', async ({
  connect,
}) => {
  const a = await connect.client(board(), { hello: { client_id: 'pa' }, tools: ['pooled'] });
  const b = await connect.client(board(), { hello: { client_id: 'pb' }, tools: ['pooled'] });
  await touch(a, 'pooled', 'pa');
  for (let time = 0; time < 4; time += 1) {
    const named = await invoke(board(), 'pooled', {}, { client: 'pb' });
    expect((await b.request()).id).toBe(named);
    b.send({ type: 'tool_status', id: named, tip: 'Working' });
    b.succeed(named, 'b');
    await b.next('result_acknowledged');
    await b.settled();
    const id = await invoke(board(), 'pooled');
    expect((await a.request()).id).toBe(id);
    a.succeed(id, 'a');
  }
  await touch(b, 'pooled', 'pb');
  const second = await invoke(board(), 'pooled');
  expect((await b.request()).id).toBe(second);
  b.succeed(second, 'b');
});

test('§5 the client whose person asks is asked first, and a name that is none is refused', async ({
  connect,
}) => {
  const a = await connect.client(board(), { hello: { client_id: 'fa' }, tools: ['asked_from'] });
  const b = await connect.client(board(), { hello: { client_id: 'fb' }, tools: ['asked_from'] });
  await touch(b, 'asked_from', 'fb');
  a.send({ type: 'client_state', visibility: 'hidden' });
  await a.settled();
  const body = { run_id: 'run_from', args: {}, client_id: 'fa' };
  expect((await post(board(), '/v1/tools/asked_from/invoke', body)).status).toBe(202);
  const request = await a.request();
  a.succeed(request.id, 'a');
  await a.next('result_acknowledged');
  const retried = await post(board(), `/v1/tool_calls/${request.id}/retry`, { client_id: 'fb' });
  expect(retried.status).toBe(200);
  b.succeed((await b.request()).id, 'b');
  for (const client_id of ['', 5, 'x'.repeat(129)]) {
    const refused = await post(board(), '/v1/tools/asked_from/invoke', { ...body, client_id });
    expect(refusalOf(refused)).toMatchObject({ status: 400, code: 'bad_request' });
  }
});

test('§5 one name with two schemas is no pool: the list names who is in it, and who is beside it', async ({
  connect,
}) => {
  const takes = (type: string) =>
    spec('split', { parameters: { type: 'object', properties: { n: { type } } } });
  const a = await connect.client(board(), { hello: { client_id: 'sa' }, tools: [takes('number')] });
  const b = await connect.client(board(), { hello: { client_id: 'sb' }, tools: [takes('string')] });
  await touch(a, 'split', 'sa');
  const { tools } = toolsAnswerSchema.parse((await get(board(), '/v1/tools')).body);
  const listed = tools.find(({ name }) => name === 'split');
  expect(listed?.schema).toEqual(takes('number').parameters);
  expect(listed?.clients.map(({ client_id }) => client_id)).toEqual(['sa']);
  expect(listed?.others).toEqual([{ client_id: 'sb', name: 'sb' }]);
  const word = await post(board(), '/v1/tools/split/invoke', { run_id: 'r', args: { n: 'five' } });
  expect(refusalOf(word)).toMatchObject({ status: 422, code: 'invalid_args' });
  const named = await invoke(board(), 'split@sb', { n: 'five' });
  expect((await b.request()).id).toBe(named);
  b.succeed(named, 'b');
});

test('§9 a client that does not offer the tool, and a tool that no client offers, are two refusals', async ({
  connect,
}) => {
  await connect.client(board(), { hello: { client_id: 'r1' }, tools: ['offered'] });
  const invokeIt = (name: string, more: object = {}) =>
    post(board(), `/v1/tools/${name}/invoke`, { run_id: 'r', args: {}, ...more });
  expect(refusalOf(await invokeIt('offered', { client: 'nobody' }))).toMatchObject({
    status: 503,
    code: 'no_provider',
  });
  expect(refusalOf(await invokeIt('offered@nobody'))).toMatchObject({
    status: 503,
    code: 'no_provider',
  });
  expect(refusalOf(await invokeIt('never_offered'))).toMatchObject({
    status: 404,
    code: 'tool_not_found',
  });
});

test('§5 a call for a named client waits for that client, though others could take it', async ({
  connect,
}) => {
  const caps = ['claim'];
  const hello = { client_id: 'wanted', caps, journal_epoch: 'j' };
  const wanted = await connect.client(board(), { hello, tools: ['pinned'] });
  const other = await connect.client(board(), { hello: { client_id: 'o' }, tools: ['pinned'] });
  const id = await invoke(board(), 'pinned', {}, { client: 'wanted' });
  await wanted.request();
  await wanted.vanish();
  await expect.poll(() => order('pinned')).toEqual(['o']);
  await other.settled();
  expect((await readCall(board(), id)).completed_at).toBeNull();
  expect(other.all('tool_call_request')).toEqual([]);
  const back = await connect.client(board(), {
    hello: { ...hello, resume_token: wanted.welcome.resume_token },
    tools: ['pinned'],
  });
  await back.claim(await back.request());
  back.succeed(id, 'mine', { attempt: 2 });
  await back.next('result_acknowledged');
});
