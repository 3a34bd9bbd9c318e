import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { expect, test } from './fixtures.ts';
import type { Callboard } from './start-callboard.ts';

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
