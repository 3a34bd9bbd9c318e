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
