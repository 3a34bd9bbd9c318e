import { expect, test } from 'vitest';
import { createManualClock } from '#lib/client/testing/manual-clock';
import { createPool } from '../clients/testing/create-pool.ts';
import { testPolicy } from '../policy/testing/test-policy.ts';
import { startTestServer, TOKENS } from './testing/start-test-server.ts';

const PARAMETERS = {
  type: 'object',
  properties: { to: { type: 'string' }, copies: { type: 'integer' } },
  required: ['to'],
};
const MAIL = { name: 'mail.send', description: 'Sends a mail', parameters: PARAMETERS };
const POLICY = {
  ask: ['clipboard.*'],
  limits: [{ name: 'mails', calls: 1, seconds: 60 }],
  rules: [
    {
      name: 'only to us',
      effect: 'deny',
      tools: ['mail.*'],
      args: [{ path: '/to', matches: '@corp\\.example$', not: true }],
      reason: 'Mail leaves the house',
    },
    { name: 'bot asks', effect: 'ask', callers: [{ name: 'bot' }], tools: ['mail.*'] },
  ],
};

const OLGA = { kind: 'operator', name: 'olga' };

async function start() {
  const { registry } = createPool({ now: createManualClock().now });
  registry.register({ clientId: 'laptop', instanceId: 'i1' }, await registry.check([MAIL]));
  const server = await startTestServer({ deps: { policy: testPolicy(POLICY, { registry }) } });
  const dryRun = (body: object) => server.post('/v1/policy/dry-run', body);
  return { server, dryRun };
}

test('[PO8] a dry run says what would happen, by which rule, and why', async () => {
  const { dryRun } = await start();
  const tool = 'mail.send';
  expect((await dryRun({ tool, args: { to: 'eve@evil.example' } })).json).toMatchObject({
    effect: 'deny',
    rule: 'only to us',
    reason: 'Mail leaves the house',
  });
  const args = { to: 'ann@corp.example', copies: '2' };
  expect((await dryRun({ tool, args })).json).toMatchObject({
    ...{ effect: 'allow', rule: null, caller: { kind: 'operator', name: 'operator' } },
    ...{ client_id: 'laptop', access: 'write', via: 'http' },
    args: { ...args, copies: 2 },
  });
  for (const left of [1, 1]) {
    const { limits } = (await dryRun({ tool, args })).json;
    expect(limits).toEqual([{ limit: 'mails', left, retry_after: 0 }]);
  }
  const caller = { kind: 'agent', name: 'bot' };
  expect((await dryRun({ tool, args, caller, via: 'run' })).json).toMatchObject({
    effect: 'ask',
    rule: 'bot asks',
    reason: 'The policy of this server asks an operator before mail.send',
  });
});

test('[PO8] a policy is tried before it counts, and refused by what is wrong with it', async () => {
  const { server, dryRun } = await start();
  const asked = { tool: 'mail.send', args: { to: 'ann@corp.example' } };
  const tried = await dryRun({ ...asked, policy: { deny: ['mail.*'] } });
  expect(tried.json).toMatchObject({ effect: 'deny', rule: 'deny.0' });
  expect((await dryRun(asked)).json).toMatchObject({ effect: 'allow' });
  const wrong = await dryRun({ ...asked, policy: { rules: [{ effect: 'ask', tool: 'x' }] } });
  expect([wrong.status, wrong.json.error.details]).toMatchObject([
    400,
    [{ path: 'policy.rules.0', problem: expect.stringContaining('its keys are name, effect') }],
  ]);
  expect(server.calls.fake.asked).toEqual([]);
});

test('[PO10] the autonomy is set for all or one run, seen by people, and written down', async () => {
  const { server, dryRun } = await start();
  const set = (body: object, token = TOKENS.colleague) =>
    server.ask('PUT', '/v1/policy/autonomy', { body, token });
  for (const token of [TOKENS.agent, TOKENS.device, TOKENS.viewer]) {
    expect((await set({ level: 'full' }, token)).status).toBe(403);
  }
  for (const body of [{}, { level: 'none' }, { level: null }, { level: 'full', run_id: 'a/b' }]) {
    expect([body, (await set(body)).status]).toEqual([body, 400]);
  }
  expect(server.audited).toEqual([]);
  expect((await set({ level: 'full' })).json).toEqual({ level: 'full', runs: [] });
  const run_id = 'run_a';
  await set({ level: 'read_only', run_id });
  const { json } = await server.get('/v1/policy', { token: TOKENS.viewer });
  expect(json.autonomy).toMatchObject({ level: 'full', runs: [{ run_id, level: 'read_only' }] });
  const asked = { tool: 'mail.send', args: { to: 'ann@corp.example' }, run_id };
  // The level waits for the run of the one who set it (PO60).
  expect((await dryRun(asked)).json).toMatchObject({ effect: 'allow' });
  await set({ level: null, run_id });
  expect((await dryRun(asked)).json).toMatchObject({ effect: 'allow' });
  expect(server.audited).toMatchObject([
    { actor: 'operator:olga', act: 'autonomy_set', target: null, detail: { level: 'full' } },
    { act: 'autonomy_set', target: run_id, detail: { level: 'read_only' } },
    { act: 'autonomy_set', target: run_id, detail: { level: null } },
  ]);
});

test('[PO20] a dry run with more patterns than a policy may have is refused before they are compiled', async () => {
  const { dryRun } = await start();
  const args = Array.from({ length: 20 }, (_, at) => ({ path: '/to', matches: `${at}[a-z]{950}` }));
  const policy = { rules: Array(500).fill({ effect: 'deny', args }) };
  const refused = await dryRun({ tool: 'mail.send', args: { to: 'ann' }, policy });
  expect([refused.status, refused.json.error.details]).toMatchObject([
    400,
    [{ path: 'policy.rules.1.args.0.matches', problem: expect.stringContaining('use fewer') }],
  ]);
});

test.each([
  ['POST', '/v1/policy/dry-run', { tool: 'mail.send', skipHooks: true }],
  ['POST', '/v1/policy/dry-run', { tool: 'mail.send', caller: { ...OLGA, approved: true } }],
  ['PUT', '/v1/policy/autonomy', { level: 'full', run: 'run_a' }],
  ['POST', '/v1/tokens', { kind: 'agent', name: 'bot', role: 'admin' }],
  ['POST', '/v1/tool_calls/tc_1/approval', { decision: 'yes', arguments: {} }],
  ['POST', '/v1/tool_calls/tc_1/extend', { by_ms: 1_000, ms: 5 }],
])('[HT90] T83: %s %s refuses %j by its unknown key', async (method, path, body) => {
  const { server } = await start();
  const { status, json } = await server.ask(method, path, { body, token: TOKENS.operator });
  expect([status, json.error.code]).toEqual([400, 'bad_request']);
  expect(json.error.message).toMatch(/it has the unknown key "\w+"; its keys are/);
  expect(server.audited).toEqual([]);
});
