import { requestsAnswerSchema, toolsAnswerSchema } from '../../lib/protocol/rest.ts';
import type { Callboard } from '../start-callboard.ts';
import { type Answered, get, post, refusalOf } from './kit/ask.ts';
import { finalCall, invoke, readCall } from './kit/calls.ts';
import { type Connect, expect, sharedCallboard, test } from './kit/contract-test.ts';
import { spec, type ToolClient } from './kit/tool-client.ts';

const board = sharedCallboard();
const CLAIMS = { caps: ['claim', 'cancel', 'probe'] };

const registerOverHttp = (on: Callboard, client_id: string, name: string): Promise<Answered> => {
  const tool = { name, schema: { type: 'object' }, timeout_ms: 60_000 };
  return post(on, '/internal/tools/register', { client_id, tools: [tool] });
};
const requestsOf = async (on: Callboard, client_id: string) => {
  const answer = await get(on, `/internal/clients/${client_id}/requests`);
  return requestsAnswerSchema.parse(answer.body).requests;
};
const clientsOf = async (name: string): Promise<string[]> => {
  const { body } = await get(board(), '/api/tools');
  const tool = toolsAnswerSchema.parse(body).tools.find((one) => one.name === name);
  return tool?.clients.map(({ client_id }) => client_id) ?? [];
};

/** A client that runs a call of a tool of its own. */
async function victimOf(connect: Connect, client_id: string) {
  const hello = { client_id, instance_id: `${client_id}-1`, journal_epoch: 'j', ...CLAIMS };
  const tool = spec(`pay.${client_id}`, { timeout_ms: 60_000 });
  const victim = await connect.client(board(), { hello, tools: [tool] });
  const id = await invoke(board(), tool.name);
  const request = await victim.request();
  await victim.claim(request);
  return { victim, hello, id, attempt: request.attempt, tool };
}

/** Names the victim and its call in every way but by its token; then it answers. */
async function expectNoTakeover(
  impostor: ToolClient,
  { client_id, id, attempt }: { client_id: string; id: string; attempt: number },
) {
  expect(impostor.welcome.client_id).not.toBe(client_id);
  expect(impostor.welcome.resumed).toBe(false);
  impostor.send({ type: 'tool_status', id, attempt, tip: 'forged' });
  impostor.send({ type: 'tool_call_claim', id, attempt });
  expect(await impostor.next('tool_call_refused')).toMatchObject({ id, reason: 'not_your_call' });
  impostor.succeed(id, 'forged', { attempt });
  const rejected = await impostor.next('result_rejected');
  expect(rejected).toMatchObject({ id, code: 'not_your_call', final: true });
  const call = await readCall(board(), id);
  expect([call.status, call.phase, call.card.tip]).toEqual([
    'RUNNING',
    expect.any(String),
    undefined,
  ]);
}

for (const phase of ['running', 'started', 'done']) {
  test(`§5 to name a client and its running call (${phase}) takes neither over`, async ({
    connect,
  }) => {
    const client_id = `connected-${phase}`;
    const { victim, hello, id, attempt } = await victimOf(connect, client_id);
    const known = [{ id, attempt, phase }];
    for (const instance_id of [hello.instance_id, `${client_id}-2`]) {
      const impostor = await connect.client(board(), { hello: { ...hello, instance_id, known } });
      await expectNoTakeover(impostor, { client_id, id, attempt });
    }
    victim.succeed(id, 'honest', { attempt });
    expect(await victim.next('result_acknowledged')).toMatchObject({ disposition: 'accepted' });
    expect((await finalCall(board(), id)).result).toBe('honest');
  });
}

test('§5 neither a call for a client by name nor its id over HTTP follows who merely names it', async ({
  connect,
}) => {
  const { victim, hello, tool } = await victimOf(connect, 'named');
  const impostor = await connect.client(board(), { hello, tools: [tool] });
  expect(await clientsOf(tool.name)).toHaveLength(2);
  for (const more of [{ name: `${tool.name}@named` }, { name: tool.name, client: 'named' }]) {
    const { name, ...rest } = more;
    const id = await invoke(board(), name, {}, rest);
    expect((await victim.request()).id).toBe(id);
  }
  await impostor.settled();
  expect(impostor.all('tool_call_request')).toEqual([]);
  for (const answer of [
    await registerOverHttp(board(), 'named', tool.name),
    await get(board(), '/internal/clients/named/requests'),
  ]) {
    expect(refusalOf(answer)).toMatchObject({ status: 409, code: 'conflict' });
  }
  await victim.vanish();
  const answer = await registerOverHttp(board(), 'named', tool.name);
  expect(refusalOf(answer)).toMatchObject({ status: 409, code: 'conflict' });
});

test('§7 the id of a client over HTTP is its own: hello is given another', async ({ connect }) => {
  expect((await registerOverHttp(board(), 'poller', 'polled')).status).toBe(200);
  const id = await invoke(board(), 'polled');
  const known = [{ id, attempt: 1, phase: 'running' }];
  const hello = { client_id: 'poller', instance_id: 'http:poller', known };
  for (const resume_token of [undefined, 'principal:operator', 'operator']) {
    const impostor = await connect.client(board(), { hello: { ...hello, resume_token } });
    expect(impostor.welcome).toMatchObject({ resumed: false });
    expect(impostor.welcome.client_id).not.toBe('poller');
    impostor.succeed(id, 'forged', { attempt: 1 });
    expect(await impostor.next('result_rejected')).toMatchObject({ code: 'not_your_call' });
  }
  expect((await requestsOf(board(), 'poller')).map((one) => one.id)).toEqual([id]);
});
