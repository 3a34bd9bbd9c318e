import { readdir, readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { serveHttp } from '#lib/net/testing/serve-http';
import { deliveriesPageSchema, targetsSchema } from '../../lib/protocol/notify.ts';
import type { Callboard } from '../start-callboard.ts';
import { configFile } from '../support/config-file.ts';
import { get } from './kit/ask.ts';
import { invoke } from './kit/calls.ts';
import { test as base, expect } from './kit/contract-test.ts';

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const PATH = '/hooks/not-for-all';

interface Hook {
  readonly url: string;
  readonly received: { headers: IncomingHttpHeaders; body: string }[];
  /** It answers by 200 when this is true; else it hangs. */
  answers: boolean;
}

const test = base.extend<{ hook: Hook }>({
  // Playwright wants a pattern here, also where nothing is taken out of it.
  hook: async ({ browserName: _ }, use) => {
    const hook = { url: '', received: [] as Hook['received'], answers: true };
    const held: ServerResponse[] = [];
    const { origin, close } = await serveHttp(async (request, response) => {
      hook.received.push({ headers: request.headers, body: await text(request) });
      if (hook.answers) response.writeHead(200).end();
      else held.push(response);
    });
    hook.url = `${origin}${PATH}`;
    await use(hook);
    await close();
  },
});

const configOf = (url: string) => ({
  policy: { ask: ['pay'] },
  notify: {
    ops: {
      ...{ kind: 'webhook', url, secret: `\${env:HOOK_SECRET}` },
      events: ['approval.requested', 'approval.decided', 'call.finished', 'run.finished'],
    },
  },
});

const deliveriesOf = async (board: Callboard) =>
  deliveriesPageSchema.parse((await get(board, '/v1/notify/deliveries')).body).deliveries;

test('[OB3] [OB14] a notice that was on disk when the server was killed is sent after the start, as one delivery', async ({
  startServer,
  connect,
  hook,
}, testInfo) => {
  hook.answers = false;
  const env = {
    CALLBOARD_CONFIG: await configFile(testInfo, configOf(hook.url)),
    HOOK_SECRET: SECRET,
  };
  const first = await startServer({ env });
  await connect.client(first, { tools: ['pay'] });
  const id = await invoke(first, 'pay', { to: 'eve' });
  await first.stop('SIGKILL');
  const before = hook.received.length;
  hook.answers = true;
  const board = await startServer({ env, dataDir: first.dataDir, token: first.token });
  await expect
    .poll(async () => (await deliveriesOf(board)).map(({ state }) => state))
    .toEqual(['delivered']);
  expect(hook.received.length).toBe(before + 1);
  const { headers, body } = hook.received.at(-1) ?? { headers: {}, body: '' };
  expect(new Webhook(SECRET).verify(body, headers as Record<string, string>)).toMatchObject({
    type: 'approval.requested',
    data: { tool_call_id: id, tool_name: 'pay', link: `${board.url}/#call=${id}` },
  });
  expect(body).not.toContain('eve');
  expect(new Set(hook.received.map((one) => one.headers['webhook-id'])).size).toBe(1);
});

test('[OB11] [OB18] a receiver that hangs costs calls nothing, and its secrets are in no file, answer or log', async ({
  startServer,
  connect,
  hook,
}, testInfo) => {
  hook.answers = false;
  const env = {
    CALLBOARD_CONFIG: await configFile(testInfo, configOf(hook.url)),
    HOOK_SECRET: SECRET,
  };
  const board = await startServer({ env });
  const client = await connect.client(board, { tools: ['pay', 'look'] });
  const secret = `the key is ${SECRET}, the address ${hook.url}`;
  for (let n = 0; n < 20; n += 1) {
    const id = await invoke(board, 'look', { n, secret });
    client.succeed((await client.request()).id, secret);
    await expect
      .poll(async () => (await get(board, `/v1/tool_calls/${id}`)).body)
      .toMatchObject({ status: 'SUCCEEDED' });
  }
  const { body } = await get(board, '/v1/notify/targets');
  const { targets } = targetsSchema.parse(body);
  expect(targets).toMatchObject([{ id: 'webhook:ops', state: 'on', open: 20 }]);
  expect(targets[0]?.host).toBe(new URL(hook.url).host);
  const paths = ['/v1/notify/targets', '/v1/notify/deliveries', '/v1/tool_calls', '/v1/policy'];
  const answers = await Promise.all(paths.map(async (path) => (await get(board, path)).text));
  const names = await readdir(board.dataDir, { recursive: true, withFileTypes: true });
  const files = await Promise.all(
    names
      .filter((one) => one.isFile())
      .map((one) => readFile(join(one.parentPath, one.name), 'latin1')),
  );
  for (const shown of [...answers, ...files, board.log()]) {
    expect(shown).not.toContain(SECRET);
    expect(shown).not.toContain(PATH);
  }
});
