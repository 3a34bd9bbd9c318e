import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Callboard } from '../start-callboard.ts';
import { get, post, refusalOf } from './kit/ask.ts';
import { finalCall, invoke, readCall } from './kit/calls.ts';
import { expect, sharedCallboard, test } from './kit/contract-test.ts';
import { openPairing, pairDevice } from './kit/devices.ts';
import { RefusedError } from './kit/socket.ts';
import { makeToken } from './kit/tokens.ts';
import { connectClient, spec } from './kit/tool-client.ts';

const board = sharedCallboard({ args: ['--lan'], env: { CALLBOARD_HOST: '' } });

/** Everything below the data directory, with who may open it and what is in it. */
async function filesOf(dir: string) {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  return Promise.all(
    entries.map(async (entry) => {
      const path = join(entry.parentPath, entry.name);
      const { mode } = await stat(path);
      const text = entry.isFile() ? await readFile(path, 'latin1') : '';
      return { name: path.slice(dir.length + 1), isFile: entry.isFile(), mode: mode & 0o777, text };
    }),
  );
}

test('[HT240] T33: what is on disk is for its owner alone, and no token of others is in it or in the log', async ({
  connect,
}) => {
  const tool = spec('torch');
  const { token: deviceToken, board: own } = await pairDevice(board(), [tool]);
  const { secret: agent } = await makeToken(board(), { kind: 'agent', name: 'script' });
  const { code } = await openPairing(board());
  const signedIn = await post(board(), '/auth/sign-in', { token: board().token }, { token: null });
  const cookie = /=([^;]+)/.exec(String(signedIn.headers['set-cookie']))?.[1] ?? '';
  const client = await connect.client(own, { hello: { caps: ['claim'] }, tools: [tool] });
  const id = await invoke(board(), tool.name);
  await client.claim(await client.request());
  client.succeed(id, 'lit');
  expect(await finalCall(board(), id)).toMatchObject({ status: 'SUCCEEDED' });
  // Refused ones are written down as well.
  await get(board(), '/v1/me', { token: `${deviceToken}x` });

  const files = await filesOf(board().dataDir);
  const open = files.filter(({ mode, isFile }) => mode !== (isFile ? 0o600 : 0o700));
  expect(open.map(({ name, mode }) => `${name} ${mode.toString(8)}`)).toEqual([]);
  expect(files.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['address', 'tls/ca.key', 'tls/server.key', 'callboard.db']),
  );
  const resume = client.welcome.resume_token ?? '';
  const secrets = { operator: board().token, deviceToken, agent, code, cookie, resume };
  for (const [name, secret] of Object.entries(secrets)) {
    expect(secret.length, name).toBeGreaterThan(7);
    const holders = files.filter(({ text }) => text.includes(secret)).map((one) => one.name);
    expect(holders, name).toEqual([]);
    expect(board().log(), name).not.toContain(secret);
  }
});

/** The status of an upgrade. */
const upgradeWith = (own: Callboard) =>
  connectClient(own).then(
    () => 101,
    (error: unknown) => (error instanceof RefusedError ? error.status : error),
  );

test('[HT241] T14: wrong tokens from this machine are counted, by requests and by sockets, and the right one is not kept out', async ({
  startServer,
}) => {
  const own = await startServer();
  const wrong = { ...own, token: `${own.token}x` };
  const bySocket = await Promise.all(Array.from({ length: 15 }, () => upgradeWith(wrong)));
  expect(bySocket).toEqual(Array.from({ length: 15 }, () => 401));
  const byRequest = await Promise.all(
    Array.from({ length: 15 }, async () => (await get(wrong, '/v1/me')).status),
  );
  // One try comes back every three seconds, so on a slow machine some of a burst are heard.
  expect(byRequest.filter((status) => status === 429).length).toBeGreaterThanOrEqual(5);
  const burst = <Answer>(ask: () => Promise<Answer>) => Promise.all(Array.from({ length: 5 }, ask));
  expect(await burst(() => upgradeWith(wrong))).toContain(429);
  const looks = await burst(() =>
    post(own, '/api/pairing/look', { code: 'AAAAAAAA' }, { token: null }),
  );
  const refused = looks.find(({ status }) => status === 429);
  if (!refused) throw new Error('each of them was heard');
  expect(refusalOf(refused)).toMatchObject({ status: 429, code: 'rate_limited' });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  expect((await get(own, '/v1/me')).status).toBe(200);
});

test('[DV53] T34: messages before a hello, and those of people from a device, change nothing', async ({
  connect,
}) => {
  const tool = spec('lock');
  const { board: own, device } = await pairDevice(board(), [tool]);
  const other = await pairDevice(board(), []);
  const client = await connect.client(own, { hello: { caps: ['claim'] }, tools: [tool] });
  const id = await invoke(board(), tool.name);
  const { attempt } = await client.request();
  const before = await readCall(board(), id);
  const stranger = await connect.client(other.board);
  stranger.succeed(id, 'stolen');
  expect(await stranger.next('result_rejected')).toMatchObject({ id });
  stranger.send({ type: 'tool_call_claim', id, attempt });
  expect(await stranger.next('tool_call_refused')).toMatchObject({ id });
  expect(await stranger.register(tool)).toMatchObject({ registered: 0 });
  const acts = ['approve', 'deny', 'invoke', 'cancel', 'decide', 'start_run', 'subscribe'];
  for (const type of acts) stranger.send({ type, id, name: tool.name, decision: 'approve' });
  await stranger.settled();
  expect(stranger.inbox.filter(({ type }) => type === 'welcome')).toEqual([]);
  expect(stranger.inbox.filter(({ type }) => type === 'error')).toHaveLength(acts.length);
  expect(await readCall(board(), id)).toEqual(before);
  await client.claim({ id, attempt });
  client.succeed(id, 'locked');
  expect(await finalCall(board(), id)).toMatchObject({
    ...{ status: 'SUCCEEDED', result: 'locked' },
  });
  expect(client.welcome.client_id).toBe(device.client_id);
});
