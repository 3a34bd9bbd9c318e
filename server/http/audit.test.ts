import { expect, test } from 'vitest';
import type { RunService } from '../runs/agent-runs.ts';
import { callRecord, createFakeCalls, fakeRuns } from './testing/fake-services.ts';
import { startTestServer, TOKENS } from './testing/start-test-server.ts';

const SECRET = 'a note with a secret';

test('[AU37] what people do is written down: who, by which token, from where, and no secret', async () => {
  const withdraw = async (id: string) => ({
    ...{
      id,
      runId: 'run_a',
      toolName: 'echo',
      clientId: null,
      bound: { arguments: [], other_arguments: 'any' as const },
      operands: [],
      uses: null,
      used: 0,
      toolHash: 'h',
      allowedAt: 1,
    },
    ...{
      scope: 'run' as const,
      ownerToken: null,
      allowedBy: 'operator',
      expiresAt: null,
      lastUsedAt: null,
      caller: { kind: 'operator' as const, name: 'operator', id: 'operator' },
    },
  });
  const server = await startTestServer();
  server.calls.service.always.withdraw = withdraw;
  server.calls.fake.records.set('tc_1', callRecord());
  const olga = { token: TOKENS.colleague };
  const body = { kind: 'agent', name: 'bot', tools: ['echo'] };
  const { id, secret } = (await server.post('/v1/tokens', body)).json;
  await server.ask('DELETE', `/v1/tokens/${id}`);
  const signIn = await server.post('/auth/sign-in', { token: TOKENS.colleague }, { token: null });
  const session = {
    cookie: String(signIn.headers['set-cookie']).split(';')[0] ?? '',
    'x-callboard-session': String(signIn.json.session_key),
    origin: `http://127.0.0.1:${server.port}`,
  };
  const code = server.signInCodes.make().replace('/sign-in/', '');
  await server.post('/auth/sign-in', { code }, { token: null });
  await server.post('/auth/sign-out', {}, { token: null, headers: session });
  const call = '/v1/tool_calls/tc_1';
  const decision = { decision: 'yes', note: SECRET, args: { SECRET } };
  await server.post(`${call}/approval`, decision, olga);
  await server.post(`${call}/answer`, { output: SECRET }, olga);
  await server.post(`${call}/extend`, { by_ms: 1_000 }, olga);
  await server.ask('DELETE', '/v1/approvals/always/rule_1', olga);
  await server.post(`${call}/cancel`, {}, olga);
  await server.post(`${call}/retry`, { args: { SECRET } }, olga);
  await server.post('/v1/runs', { input: SECRET }, olga);
  const first = { actor: 'operator', tokenId: null, address: '127.0.0.1' };
  const second = { ...first, actor: 'operator:olga', tokenId: 'tok_olga' };
  const tool_name = 'echo';
  expect(server.audited).toEqual([
    { ...first, act: 'token_created', target: id, detail: body },
    { ...first, act: 'token_revoked', target: id, detail: { kind: 'agent', name: 'bot' } },
    { ...second, act: 'signed_in', target: null, detail: { with: 'token' } },
    { ...first, act: 'signed_in', target: null, detail: { with: 'link' } },
    { ...second, act: 'signed_out', target: null, detail: {} },
    {
      ...{ ...second, act: 'approval_decided', target: 'tc_1' },
      detail: { tool_name, decision: 'yes', edited: true },
    },
    { ...second, act: 'answered_by_hand', target: 'tc_1', detail: { tool_name } },
    { ...second, act: 'extended', target: 'tc_1', detail: { tool_name, by_ms: 1_000 } },
    {
      ...{ ...second, act: 'always_withdrawn', target: 'rule_1' },
      detail: { tool_name, run_id: 'run_a', client_id: null },
    },
    { ...second, act: 'call_cancelled', target: 'tc_1', detail: { tool_name } },
    {
      ...{ ...second, act: 'call_retried', target: 'tc_1' },
      detail: { tool_name, retry_of: 'tc_1', edited: true },
    },
    { ...second, act: 'run_started', target: 'run_a', detail: {} },
  ]);
  const text = JSON.stringify(server.audited);
  for (const hidden of [SECRET, secret, code, TOKENS.colleague, signIn.json.session_key]) {
    expect(text).not.toContain(hidden);
  }
});

test('[AU37] what is refused, or had no effect, is not written down as done', async () => {
  const server = await startTestServer();
  await server.post('/v1/tool_calls/tc_none/approval', { decision: 'yes' });
  await server.post('/v1/tool_calls/tc_none/extend', { by_ms: 1_000 });
  await server.post('/v1/tokens', { kind: 'agent', name: 'x' }, { token: TOKENS.agent });
  await server.post('/auth/sign-in', { token: 'wrong' }, { token: null });
  await server.ask('DELETE', '/v1/tokens/tok_none');
  expect(server.audited).toEqual([]);
});

test('[AU37] a run that is stopped and a message that is replaced are written down', async () => {
  const { service: calls } = createFakeCalls();
  const found = await fakeRuns.get('run_a');
  const run = found && { ...found, status: 'running' as const };
  const send: RunService['send'] = async () => (run ? { ok: true, run } : fakeRuns.send('', {}));
  const runs: RunService = { ...fakeRuns, get: async () => run, send };
  const server = await startTestServer({ deps: { calls, runs } });
  await server.post('/v1/runs/run_a/messages', { input: SECRET });
  await server.post('/v1/runs/run_a/messages', { replaces: 'msg_1' });
  await server.post('/v1/runs/run_a/cancel', {});
  const first = { actor: 'operator', tokenId: null, address: '127.0.0.1', target: 'run_a' };
  expect(server.audited).toEqual([
    { ...first, act: 'message_replaced', detail: { message_id: 'msg_1', edited: false } },
    { ...first, act: 'run_stopped', detail: {} },
  ]);
});

test('[AU37] a call made at a page is by hand; one of a program with a token is not', async () => {
  const server = await startTestServer();
  const signIn = await server.post('/auth/sign-in', { token: TOKENS.colleague }, { token: null });
  const headers = {
    cookie: String(signIn.headers['set-cookie']).split(';')[0] ?? '',
    'x-callboard-session': String(signIn.json.session_key),
    origin: `http://127.0.0.1:${server.port}`,
  };
  const call = { run_id: 'run_a', args: { text: SECRET } };
  await server.post('/v1/tools/echo/invoke', call, { token: TOKENS.colleague });
  await server.post('/v1/tools/echo/invoke', call, { token: null, headers });
  const byHand = server.audited.filter(({ act }) => act === 'tool_called');
  expect(byHand).toMatchObject([{ actor: 'operator:olga', detail: { tool_name: 'echo' } }]);
  expect(JSON.stringify(server.audited)).not.toContain(SECRET);
});

test('[AU37] a request that is repeated by its Idempotency-Key is written down once', async () => {
  const server = await startTestServer();
  server.calls.fake.records.set('tc_1', callRecord());
  const olga = { token: TOKENS.colleague };
  const { service } = server.calls;
  await server.post('/v1/tool_calls/tc_1/retry', {}, olga);
  service.retry = async () => ({ ok: true, call: callRecord(), isRepeat: true });
  await server.post('/v1/tool_calls/tc_1/retry', {}, olga);
  expect(server.audited.map(({ act }) => act)).toEqual(['call_retried']);
});
