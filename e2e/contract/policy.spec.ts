import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ask, get, post, refusalOf } from './kit/ask.ts';
import { invoke, readCall } from './kit/calls.ts';
import { test as base, expect } from './kit/contract-test.ts';

const HOOK = `
export const before_tool_call = ({ args }) =>
  args.to === 'eve' ? { action: 'cancel', reason: 'Not to eve' } : undefined;
export const after_tool_call = (_call, result) =>
  JSON.stringify(result).includes('secret') ? { action: 'replace', output: 'redacted' } : undefined;
`;

/** A server with a configuration file that tests write anew. */
const test = base.extend<{ dir: string; write: (config: object) => Promise<void> }>({
  // Playwright wants a pattern here, also where nothing is taken out of it.
  dir: async ({ browserName: _ }, use) => {
    const dir = await mkdtemp(join(tmpdir(), 'callboard-policy-'));
    await writeFile(join(dir, 'guard.mjs'), HOOK);
    await use(dir);
    await rm(dir, { recursive: true });
  },
  write: async ({ dir }, use) => {
    const file = join(dir, 'callboard.config.json');
    await use(async (config) => {
      await writeFile(`${file}.new`, JSON.stringify(config));
      await rename(`${file}.new`, file);
    });
  },
  callboardEnv: async ({ dir, write }, use) => {
    await write({
      policy: {
        ask: ['pay'],
        limits: [{ name: 'two', tools: ['mail'], calls: 2, seconds: 3_600 }],
      },
      hooks: [{ module: './guard.mjs', tools: ['mail', 'look'], security: true }],
    });
    await use({ CALLBOARD_CONFIG: join(dir, 'callboard.config.json') });
  },
});

const RUN = { run_id: 'run_policy' };

test('the policy follows its file, and a broken one changes nothing and is named', async ({
  callboard: board,
  connect,
  write,
}) => {
  await connect.client(board, { tools: ['pay'] });
  const tried = async () =>
    (await post(board, '/v1/policy/dry-run', { tool: 'pay' })).body as { effect: string };
  expect(await tried()).toMatchObject({ effect: 'ask', rule: 'ask.0' });
  await write({ policy: { rules: [{ effect: 'never' }] } });
  const problem = async () => (await get(board, '/v1/policy')).body;
  await expect
    .poll(problem)
    .toMatchObject({ problem: expect.stringContaining('policy.rules.0.effect') });
  expect(await tried()).toMatchObject({ effect: 'ask' });
  await write({ policy: { rules: [{ name: 'no pay', effect: 'deny', tools: ['PAY'] }] } });
  await expect.poll(tried).toMatchObject({ effect: 'deny', rule: 'no pay' });
  const call = await readCall(board, await invoke(board, 'pay', {}, RUN));
  expect(call).toMatchObject({ status: 'FAILED', error: { code: 'denied' } });
});

test('limits and autonomy hold over a crash, and a refusal has the seconds to wait', async ({
  callboard: board,
  connect,
  startServer,
}) => {
  await connect.client(board, { tools: ['mail', 'pay'] });
  await invoke(board, 'mail', {}, RUN);
  await invoke(board, 'mail', {}, RUN);
  const set = await ask(board, 'PUT', '/v1/policy/autonomy', { body: { level: 'full' } });
  expect(set.status).toBe(200);
  await board.stop('SIGKILL');
  const again = await startServer({ dataDir: board.dataDir, token: board.token });
  await connect.client(again, { tools: ['mail', 'pay'] });
  const refused = await post(again, '/v1/tools/mail/invoke', { ...RUN, args: {} });
  expect(refusalOf(refused)).toMatchObject({ status: 429, code: 'rate_limited' });
  const elsewhere = { run_id: 'run_of_no_call', args: {} };
  const first = await post(again, '/v1/tools/mail/invoke', elsewhere);
  expect(refusalOf(first)).toMatchObject({ status: 429, code: 'rate_limited' });
  expect((await get(again, '/v1/runs/run_of_no_call')).status).toBe(404);
  expect((await readCall(again, await invoke(again, 'pay', {}, RUN))).phase).toBe('offered');
});

test('hooks of the configuration cancel calls and redact results', async ({
  callboard: board,
  connect,
}) => {
  const client = await connect.client(board, { tools: ['mail', 'look'] });
  const stopped = await readCall(board, await invoke(board, 'mail', { to: 'eve' }, RUN));
  expect(stopped).toMatchObject({
    error: { code: 'denied', message: 'Not to eve' },
    card: { hooks: [{ name: 'guard', did: 'cancelled' }] },
  });
  const id = await invoke(board, 'look', {}, RUN);
  await client.request();
  client.succeed(id, 'my secret');
  await client.next('result_acknowledged');
  expect(await readCall(board, id)).toMatchObject({ status: 'SUCCEEDED', result: 'redacted' });
});
