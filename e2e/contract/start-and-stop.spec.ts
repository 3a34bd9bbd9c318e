import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { get, post } from './kit/ask.ts';
import { invoke, readCall } from './kit/calls.ts';
import { expect, test } from './kit/contract-test.ts';
import { openEventStream } from './kit/event-stream.ts';
import { runServer } from './kit/run-server.ts';
import { spec } from './kit/tool-client.ts';

test.describe.configure({ mode: 'default' });

/** Refused in one line that names what was wrong, with an exit code that says so. */
async function expectRefusal(env: Record<string, string>, ...words: (string | RegExp)[]) {
  await expectExit(1, env, ...words);
}

async function expectExit(
  exitCode: number,
  env: Record<string, string>,
  ...words: (string | RegExp)[]
) {
  const { code, errors, output } = await runServer(env);
  const what = JSON.stringify({ env, errors, output });
  expect(code, what).toBe(exitCode);
  expect(errors, what).toHaveLength(1);
  for (const word of words) expect(errors[0]).toMatch(word);
  expect(errors[0]).not.toContain('    at ');
}

const dirs: string[] = [];
async function makeDir() {
  const dir = await mkdtemp(join(tmpdir(), 'callboard-start-'));
  dirs.push(dir);
  return dir;
}
test.afterAll(async () => {
  for (const dir of dirs) await rm(dir, { recursive: true, force: true });
});

test('§3 a value that makes no sense stops the start with one line: which, what it was, what it may be', async () => {
  // Each of the others is refused the same way: `server/main/config.test.ts`. Hosts are seen when they are used.
  const values: [Record<string, string>, ...RegExp[]][] = [
    [{ CALLBOARD_PORT: 'seventy' }, /CALLBOARD_PORT/, /"seventy"/, /65535/],

    [{ CALLBOARD_HOST: 'no.such.host.invalid' }, /no\.such\.host\.invalid/, /CALLBOARD_HOST/],
    [{ CALLBOARD_HOST: '203.0.113.1' }, /203\.0\.113\.1/, /CALLBOARD_HOST/],
  ];
  for (const [env, ...words] of values) await expectRefusal(env, ...words);
});

test('§3 a configuration file that makes no sense is one line that says where', async () => {
  const dir = await makeDir();
  const file = join(dir, 'callboard.config.json');
  await writeFile(file, '{"policy":{"ask":"pay"}}');
  await expectRefusal({ CALLBOARD_CONFIG: file }, /callboard\.config\.json/, /policy\.ask/);
});

test('§3 a port that is in use is refused with what to do', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await expect.poll(() => other.listening).toBe(true);
  const address = other.address();
  const port = typeof address === 'object' ? String(address?.port) : '';
  await expectRefusal({ CALLBOARD_PORT: port }, new RegExp(`:${port}`), /in use/, /CALLBOARD_PORT/);
  other.close();
});

test('§3 a data directory that cannot be one is refused, and a file in its place is left alone', async () => {
  const dir = await makeDir();
  const file = join(dir, 'a-file');
  await writeFile(file, 'mine');
  await expectRefusal({ CALLBOARD_DATA_DIR: file }, /a-file/);
  await expectRefusal({ CALLBOARD_DATA_DIR: join(file, 'below') }, /a-file/);
  expect(await readFile(file, 'utf8')).toBe('mine');
  const broken = join(dir, 'broken');
  await mkdir(broken);
  await writeFile(
    join(broken, 'callboard.db'),
    'this is no database, and never was one\n'.repeat(9),
  );
  await expectExit(78, { CALLBOARD_DATA_DIR: broken }, /callboard\.db/, /--salvage/);
  expect(await readFile(join(broken, 'callboard.db'), 'utf8')).toContain('never was one');
});

test('§3 a data directory that cannot be made or written is refused', async () => {
  // Nobody may write there, not even the superuser that tests may run as.
  const system = process.platform === 'darwin' ? '/System' : '/sys';
  await expectRefusal({ CALLBOARD_DATA_DIR: join(system, 'callboard') }, /callboard/);
  await expectRefusal({ CALLBOARD_DATA_DIR: system }, new RegExp(system));
});

test('§3 a data directory that another server uses is refused, and that server goes on', async ({
  startServer,
}) => {
  const first = await startServer();
  await expectExit(75, { CALLBOARD_DATA_DIR: first.dataDir }, /in use|another/i);
  expect((await get(first, '/readyz')).status).toBe(200);
});

test('§3 without a token one is made and kept for its owner alone, and the directory is private', async ({
  startServer,
}) => {
  const first = await startServer({ env: { CALLBOARD_TOKEN: '' } });
  const file = join(first.dataDir, 'token');
  const token = (await readFile(file, 'utf8')).trim();
  expect(token.length).toBeGreaterThanOrEqual(32);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(first.dataDir)).mode & 0o777).toBe(0o700);
  for (const name of await readdir(first.dataDir)) {
    expect((await stat(join(first.dataDir, name))).mode & 0o077, name).toBe(0);
  }
  expect(first.log()).not.toContain(token);
  expect(first.log()).toContain(file);
  expect((await get(first, '/v1/tools', { token })).status).toBe(200);
  await first.stop();
  const second = await startServer({ dataDir: first.dataDir, env: { CALLBOARD_TOKEN: '' } });
  expect((await get(second, '/v1/tools', { token })).status).toBe(200);
});

test('§3 asked to stop, it takes no more work, closes sockets with 1012, and ends with 0 within 5 s', async ({
  connect,
  startServer,
}) => {
  const board = await startServer();
  const open = spec('open_end', { annotations: { readOnlyHint: true } });
  const client = await connect.client(board, { hello: { client_id: 'c' }, tools: [open] });
  const watcher = await connect.watcher(board);
  await watcher.next('snapshot');
  const ids: string[] = [];
  for (let n = 0; n < 3; n += 1) {
    ids.push(await invoke(board, 'open_end', { n }));
    await client.request();
  }
  const run = await post(board, '/v1/runs', { input: 'what is 2+3*4', model: 'rehearsal' });
  const { run_id } = run.body as { run_id: string };
  const stream = await openEventStream(board, `/v1/runs/${run_id}/events`);
  const streamEnded = stream.until(() => false).catch((error: Error) => error.message);
  const waiting = get(board, `/v1/tool_calls/${ids[0]}?wait_ms=30000`);
  const invoking = post(board, '/v1/tools/open_end/invoke', {
    run_id: 'r',
    args: {},
    wait_ms: 30_000,
  });
  const polling = get(board, '/internal/clients/poller/requests?wait_ms=30000');
  ids.push((await client.request()).id);
  const before = Date.now();
  const code = await board.stop('SIGTERM');
  expect(code).toBe(0);
  expect(Date.now() - before).toBeLessThan(5_000);
  expect((await client.closed).code).toBe(1012);
  expect((await watcher.closed).code).toBe(1012);
  // Whoever waited is answered with what there is, and streams end as whole answers do.
  expect(await waiting).toMatchObject({ status: 200, body: { completed_at: null } });
  expect(await invoking).toMatchObject({ status: 202, body: { tool_call_id: ids[3] } });
  expect(await polling).toMatchObject({ status: 200, body: { requests: [] } });
  expect(await streamEnded).toMatch(/^The stream ended/);
  const again = await startServer({ dataDir: board.dataDir, token: board.token });
  for (const id of ids) {
    const call = await readCall(again, id);
    expect([call.tool_call_id, call.completed_at]).toEqual([id, null]);
  }
  const back = await connect.client(again, {
    hello: { client_id: 'c', resume_token: client.welcome.resume_token },
    tools: [open],
  });
  expect(back.welcome.resumed).toBe(true);
  const offered = [];
  for (const _ of ids) offered.push(await back.request());
  expect(offered.map(({ id }) => id).sort()).toEqual([...ids].sort());
});

test('§3 a socket that does not read does not hold it up', async ({ connect, startServer }) => {
  const board = await startServer();
  const watcher = await connect.watcher(board);
  await watcher.next('snapshot');
  const client = await connect.client(board, { tools: ['stuck'] });
  await invoke(board, 'stuck');
  await client.request();
  for (const socket of [watcher, client]) socket.ws.pause();
  const before = Date.now();
  expect(await board.stop('SIGINT')).toBe(0);
  expect(Date.now() - before).toBeLessThan(5_000);
});

test('§2 what was answered 202 a moment before the stop is there afterwards', async ({
  connect,
  startServer,
}) => {
  const board = await startServer();
  await connect.client(board, { tools: ['flushed'] });
  const accepted: string[] = [];
  const asking = Promise.all(
    Array.from({ length: 60 }, async (_, n) => {
      const answer = await post(board, '/v1/tools/flushed/invoke', {
        run_id: 'r',
        args: { n },
      }).catch(() => undefined);
      if (answer?.status === 202) {
        accepted.push((answer.body as { tool_call_id: string }).tool_call_id);
      } else if (answer) expect([404, 503]).toContain(answer.status);
    }),
  );
  await board.stop('SIGTERM');
  await asking;
  const again = await startServer({ dataDir: board.dataDir, token: board.token });
  for (const id of accepted) expect((await readCall(again, id)).tool_call_id).toBe(id);
});
