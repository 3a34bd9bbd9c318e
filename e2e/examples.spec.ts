import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { makeToken } from './contract/kit/tokens.ts';
import { expect, test } from './fixtures.ts';
import type { Callboard } from './start-callboard.ts';

test.use({ serverOf: 'file' });

const ROOT = resolve(import.meta.dirname, '..');

const PROGRAMS = [
  {
    command: ['sh', 'examples/http-client.sh'],
    ...{ tool: 'kernel.name', args: {}, result: expect.stringMatching(/^\w+ \S+ \S+/) },
  },
  {
    command: ['python3', 'examples/http_client.py'],
    ...{ tool: 'words.count', args: { text: 'to be "or" not,\n{to} be' }, result: { words: 6 } },
  },
] as const;

for (const { command, tool, args, result } of PROGRAMS) {
  const [program, file] = command;
  const start = (env: Readonly<Record<string, string>>) => {
    const child = spawn(program, [join(ROOT, file)], {
      env: { ...process.env, NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(child, 'close');
    let errors = '';
    child.stderr.on('data', (chunk) => {
      errors += String(chunk);
    });
    child.stdout.resume();
    return { child, ended, errors: () => errors };
  };
  const call = (board: Callboard) =>
    board.http('POST', `/v1/tools/${tool}/invoke`, {
      run_id: 'run_example',
      args,
      wait_ms: 10_000,
    });

  test(`${file} is a tool that can be called, also after a restart of the server, and ends when it is asked to`, async ({
    startServer,
  }) => {
    const board = await startServer();
    const { child, ended, errors } = start({
      ...{ CALLBOARD_URL: board.url, CALLBOARD_TOKEN: board.token },
    });
    try {
      await expect.poll(async () => (await call(board)).status).toBe(200);
      expect((await call(board)).body, errors()).toMatchObject({ status: 'SUCCEEDED', result });
      const calls = await Promise.all([call(board), call(board), call(board)]);
      for (const { body } of calls) expect(body).toMatchObject({ status: 'SUCCEEDED', result });

      await board.stop('SIGKILL');
      await expect.poll(errors).toMatch(/again in \d/);
      const { dataDir, token, url } = board;
      const env = { CALLBOARD_PORT: new URL(url).port };
      const again = await startServer({ dataDir, token, env });
      await expect.poll(async () => (await call(again)).status).toBe(200);
      expect((await call(again)).body).toMatchObject({ status: 'SUCCEEDED', result });
    } finally {
      child.kill();
    }
    expect(await ended).toEqual([0, null]);
  });

  test(`${file} ends with the reason when its token is not accepted`, async ({ callboard }) => {
    const wrong = start({ CALLBOARD_URL: callboard.url, CALLBOARD_TOKEN: 'wrong' });
    expect(await wrong.ended).toEqual([1, null]);
    expect(wrong.errors()).toContain('unauthenticated');
    const none = start({ CALLBOARD_URL: callboard.url, CALLBOARD_TOKEN: '' });
    const [code] = await none.ended;
    expect(code).toBeGreaterThan(0);
    expect(none.errors()).toContain('the token of a person');
  });
}

test('examples/pair-program.sh gets a token of its own, with which the tool is offered', async ({
  callboard,
}, testInfo) => {
  const file = testInfo.outputPath('device-token');
  await mkdir(dirname(file), { recursive: true });
  const env = { ...process.env, NO_PROXY: '127.0.0.1', CALLBOARD_URL: callboard.url };
  const { body: opened } = await callboard.http('POST', '/v1/pairings', {});
  const { code, pairing_id } = opened as { code: string; pairing_id: string };
  const script = join(ROOT, 'examples/pair-program.sh');
  const pairing = spawn('sh', [script, code, file], { env });
  const printed = text(pairing.stdout);
  const decide = () =>
    callboard.http('POST', `/v1/pairings/${pairing_id}/decision`, { decision: 'approve' });
  await expect.poll(async () => (await decide()).status).toBe(200);
  const client = (await printed).match(/^CALLBOARD_CLIENT=(\S+) /)?.[1] ?? '';
  const token = await readFile(file, 'utf8');

  const program = spawn('sh', [join(ROOT, 'examples/http-client.sh')], {
    env: { ...env, CALLBOARD_CLIENT: client, CALLBOARD_TOKEN: token },
    stdio: 'ignore',
  });
  try {
    const call = { run_id: 'run_paired', args: {}, client, wait_ms: 10_000 };
    const answer = () => callboard.http('POST', '/v1/tools/kernel.name/invoke', call);
    await expect.poll(async () => (await answer()).body).toMatchObject({ status: 'SUCCEEDED' });
  } finally {
    program.kill();
  }

  const used = spawn('sh', [script, code, `${file}-2`], { env });
  expect(await text(used.stderr)).toContain('not_found');
});

test('examples/mcp-stdio.mjs gives a host that starts programs the tools of an agent', async ({
  callboard,
}) => {
  const token = await makeToken(callboard, {
    kind: 'agent',
    name: 'host',
    tools: ['calculation.*'],
  });
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(ROOT, 'examples/mcp-stdio.mjs')],
    env: { CALLBOARD_URL: callboard.url, CALLBOARD_TOKEN: token.secret },
  });
  await client.connect(transport);
  const { tools } = await client.listTools();
  const { name = '' } = tools.find((tool) => tool.name.startsWith('calculation')) ?? {};
  const result = await client.callTool({ name, arguments: { expression: '6*7' } });
  expect(JSON.stringify(result.content)).toContain('42');
  await client.close();
});
