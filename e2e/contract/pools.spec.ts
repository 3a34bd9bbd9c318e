import { toolsAnswerSchema } from '../../lib/protocol/rest.ts';
import { get, post, refusalOf } from './kit/ask.ts';
import { invoke, readCall } from './kit/calls.ts';
import { expect, sharedCallboard, test } from './kit/contract-test.ts';

const board = sharedCallboard();

/** The ids of the clients that serve a tool, in the order in which they would be asked. */
async function order(name: string): Promise<string[]> {
  const { tools } = toolsAnswerSchema.parse((await get(board(), '/v1/tools')).body);
  return tools.find((tool) => tool.name === name)?.clients.map((one) => one.client_id) ?? [];
}

test('§5 of several clients the most recently active one is asked', async ({ connect }) => {
  const a = await connect.client(board(), { hello: { client_id: 'pa' }, tools: ['pooled'] });
  const b = await connect.client(board(), { hello: { client_id: 'pb' }, tools: ['pooled'] });
  // Activity is told by the millisecond, so it is repeated until the clock has moved on.
  await expect
    .poll(async () => {
      await a.settled();
      return (await order('pooled'))[0];
    })
    .toBe('pa');
  const id = await invoke(board(), 'pooled');
  expect((await a.request()).id).toBe(id);
  a.succeed(id, 'a');
  await a.next('result_acknowledged');
  await expect
    .poll(async () => {
      await b.settled();
      return (await order('pooled'))[0];
    })
    .toBe('pb');
  const second = await invoke(board(), 'pooled');
  expect((await b.request()).id).toBe(second);
  b.succeed(second, 'b');
});

test('§5 a hidden tab is asked last, however active it is, and first again when it is shown', async ({
  connect,
}) => {
  await connect.client(board(), { hello: { client_id: 'shown' }, tools: ['seen'] });
  const hidden = await connect.client(board(), { hello: { client_id: 'hidden' }, tools: ['seen'] });
  hidden.send({ type: 'client_state', visibility: 'hidden' });
  await hidden.settled();
  expect(await order('seen')).toEqual(['shown', 'hidden']);
  await expect
    .poll(async () => {
      hidden.send({ type: 'client_state', visibility: 'visible' });
      await hidden.settled();
      return order('seen');
    })
    .toEqual(['hidden', 'shown']);
});

test('§5 the client that the caller names is asked, though another would be first', async ({
  connect,
}) => {
  const first = await connect.client(board(), { hello: { client_id: 'n1' }, tools: ['named'] });
  const second = await connect.client(board(), { hello: { client_id: 'n2' }, tools: ['named'] });
  first.send({ type: 'client_state', visibility: 'hidden' });
  await first.settled();
  const byField = await invoke(board(), 'named', {}, { client: 'n1' });
  expect((await first.request()).id).toBe(byField);
  const byName = await invoke(board(), 'named@n1');
  expect((await first.request()).id).toBe(byName);
  expect((await readCall(board(), byName)).tool_name).toBe('named');
  await second.settled();
  expect(second.all('tool_call_request')).toEqual([]);
});

test('§9 a client that does not offer the tool, and a tool that nobody offers, are two refusals', async ({
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

test('§5 when a client leaves before it has begun, another of the pool is asked at once', async ({
  connect,
}) => {
  const caps = ['claim'];
  const stays = await connect.client(board(), {
    hello: { client_id: 's', caps },
    tools: ['handed'],
  });
  const leaves = await connect.client(board(), {
    hello: { client_id: 'l', caps },
    tools: ['handed'],
  });
  stays.send({ type: 'client_state', visibility: 'hidden' });
  await stays.settled();
  const id = await invoke(board(), 'handed');
  expect((await leaves.request()).id).toBe(id);
  await leaves.vanish();
  const again = await stays.request();
  expect([again.id, again.attempt]).toEqual([id, 2]);
  await stays.claim(again);
  stays.succeed(id, 'done', { attempt: 2 });
  await stays.next('result_acknowledged');
  expect((await readCall(board(), id)).client_id).toBe('s');
});

test('§5 a call for a named client waits for that client, whoever else could take it', async ({
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

test('§5 a named client that comes back under a new instance is found again by its name', async ({
  connect,
}) => {
  const caps = ['claim'];
  const first = await connect.client(board(), {
    hello: { client_id: 'reborn', caps },
    tools: ['refound'],
  });
  const id = await invoke(board(), 'refound@reborn');
  await first.request();
  await first.vanish();
  // As a tab that is opened after the first was closed: its token proves the client.
  const { resume_token } = first.welcome;
  const again = await connect.client(board(), {
    hello: { client_id: 'reborn', instance_id: 'second-tab', resume_token, caps },
    tools: ['refound'],
  });
  expect(again.welcome).toMatchObject({ client_id: 'reborn', resumed: false });
  const request = await again.request();
  expect([request.id, request.attempt]).toEqual([id, 2]);
  await again.claim(request);
  again.succeed(id, 'found', { attempt: 2 });
  await again.next('result_acknowledged');
});
