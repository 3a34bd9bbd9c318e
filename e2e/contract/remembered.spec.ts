import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { alwaysAllowedSchema } from '../../lib/protocol/always.ts';
import { toolsAnswerSchema } from '../../lib/protocol/rest.ts';
import type { Callboard } from '../start-callboard.ts';
import { ask, get, post, refusalOf } from './kit/ask.ts';
import { invoke, readCall } from './kit/calls.ts';
import { expect, test } from './kit/contract-test.ts';
import type { ToolClient } from './kit/tool-client.ts';

/** The same server with the same data, after it was killed. */
type Restart = (board: Callboard) => Promise<Callboard>;

const askingTest = test.extend<{ restart: Restart }>({
  // Playwright wants a pattern here, also where nothing is taken out of it.
  callboardEnv: async ({ browserName: _ }, use) => {
    const dir = await mkdtemp(join(tmpdir(), 'callboard-remembered-'));
    const config = join(dir, 'callboard.config.json');
    await writeFile(config, JSON.stringify({ policy: { ask: ['pay'] } }));
    await use({ CALLBOARD_CONFIG: config });
    await rm(dir, { recursive: true });
  },
  restart: async ({ startServer }, use) => {
    await use(async ({ dataDir, token, stop }) => {
      await stop('SIGKILL');
      return startServer({ dataDir, token });
    });
  },
});

const RUN = { run_id: 'run_trusted' };
const TILL = { client_id: 'till' };

/** A call of `pay` that an operator has just allowed for good. */
async function allowAlways(board: Callboard): Promise<void> {
  const id = await invoke(board, 'pay', {}, RUN);
  const decided = await post(board, `/v1/tool_calls/${id}/approval`, { decision: 'always' });
  expect(decided.status).toBe(200);
}

const phaseOfNext = async (board: Callboard, run = RUN) =>
  (await readCall(board, await invoke(board, 'pay', {}, run))).phase;

const listed = async (board: Callboard) =>
  alwaysAllowedSchema.parse((await get(board, '/v1/approvals/always')).body).always;

askingTest(
  '§6 always holds over a crash and a restart, for that run alone',
  async ({ callboard: board, restart, connect }) => {
    const client = await connect.client(board, { hello: TILL, tools: ['pay'] });
    await allowAlways(board);
    const { resume_token } = client.welcome;
    const again = await restart(board);
    await connect.client(again, { hello: { ...TILL, resume_token }, tools: ['pay'] });
    expect(await phaseOfNext(again)).toBe('offered');
    expect(await phaseOfNext(again, { run_id: 'run_other' })).toBe('approval');
  },
);

askingTest(
  '§6 what is always allowed is listed, and stays withdrawn over a restart',
  async ({ callboard: board, restart, connect }) => {
    const client = await connect.client(board, { hello: TILL, tools: ['pay'] });
    const { resume_token } = client.welcome;
    await allowAlways(board);
    const [rule] = await listed(board);
    expect(rule).toMatchObject({ ...RUN, tool_name: 'pay', client_id: 'till' });
    const path = `/v1/approvals/always/${rule?.id}`;
    expect((await ask(board, 'DELETE', path)).status).toBe(200);
    expect(refusalOf(await ask(board, 'DELETE', path))).toMatchObject({
      status: 404,
      code: 'not_found',
    });
    expect(await phaseOfNext(board)).toBe('approval');
    const again = await restart(board);
    await connect.client(again, { hello: { ...TILL, resume_token }, tools: ['pay'] });
    expect([await listed(again), await phaseOfNext(again)]).toEqual([[], 'approval']);
  },
);

askingTest(
  '§6 an always that is bound to arguments and to a number of calls says so, and counts over a crash',
  async ({ callboard: board, restart, connect }) => {
    const client = await connect.client(board, { hello: TILL, tools: ['pay'] });
    const { resume_token } = client.welcome;
    const pay = async (to: Callboard, args: object) =>
      (await readCall(to, await invoke(to, 'pay', args, RUN))).phase;
    const path = `/v1/tool_calls/${await invoke(board, 'pay', { amount: 5 }, RUN)}/approval`;
    const always = { decision: 'always', bound: [{ name: 'amount', at_most: 9 }], uses: 2 };
    for (const wrong of [
      { ...always, bound: [{ name: 'amount', at_most: 4 }] },
      { ...always, bound: [{ name: 'iban', is: null }] },
      { ...always, bound: [{ name: '__proto__', is: null }] },
    ]) {
      expect(refusalOf(await post(board, path, wrong)).status, JSON.stringify(wrong)).toBe(422);
    }
    for (const wrong of [{ uses: 0 }, { bound: [{ name: 'amount', matches: '.' }] }]) {
      expect(refusalOf(await post(board, path, { ...always, ...wrong })).status).toBe(400);
    }
    expect((await post(board, path, always)).status).toBe(200);
    expect(await pay(board, { amount: 9 })).toBe('offered');
    expect(await pay(board, { amount: 10 })).toBe('approval');
    expect(await listed(board)).toMatchObject([{ bound: always.bound, uses: 2, used: 1 }]);
    const audit = await get(board, '/v1/audit?act=approval_decided');
    expect(audit.body).toMatchObject({
      entries: [{ detail: { uses: 2, bound: always.bound, rule: expect.any(String) } }],
    });
    const again = await restart(board);
    await connect.client(again, { hello: { ...TILL, resume_token }, tools: ['pay'] });
    expect(await pay(again, { amount: 1 })).toBe('offered');
    expect([await pay(again, { amount: 1 }), await listed(again)]).toEqual(['approval', []]);
  },
);

const CLAIMS = { client_id: 'flaky', caps: ['claim'], instance_id: 'tab-1' };

/** How the instance is passed over for a tool, as the lists show it. */
const openCircuitOf = async (board: Callboard, name: string) =>
  toolsAnswerSchema
    .parse((await get(board, '/api/tools')).body)
    .tools.find((one) => one.name === name)
    ?.clients.find(({ client_id }) => client_id === CLAIMS.client_id)?.tripped;

askingTest(
  'a client that does not deliver is passed over after a restart, too',
  async ({ callboard: board, restart, connect }) => {
    let client: ToolClient | undefined;
    const back = async (to: Callboard) => {
      const resume_token = client?.welcome.resume_token;
      client = await connect.client(to, {
        hello: { ...CLAIMS, ...(resume_token && { resume_token }) },
        tools: ['slip', 'other'],
      });
      return client;
    };
    for (let time = 0; time < 3; time += 1) {
      const leaving = await back(board);
      await invoke(board, 'slip');
      await leaving.claim(await leaving.request());
      await leaving.vanish();
      await expect
        .poll(async () => (await get(board, '/api/tools')).text.includes('"slip"'))
        .toBe(false);
    }
    await back(board);
    const tripped = await openCircuitOf(board, 'slip');
    expect(tripped).toMatchObject({ failures: 3 });
    const again = await restart(board);
    const there = await back(again);
    expect(await openCircuitOf(again, 'slip')).toEqual(tripped);
    expect((await readCall(again, await invoke(again, 'slip'))).phase).toBe('queued');
    const other = await invoke(again, 'other');
    expect((await there.next('tool_call_request', ({ name }) => name === 'other')).id).toBe(other);
  },
);
