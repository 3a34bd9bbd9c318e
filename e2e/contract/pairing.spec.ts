import type { Callboard } from '../start-callboard.ts';
import { get, post, refusalOf } from './kit/ask.ts';
import { finalCall, invoke, readCall } from './kit/calls.ts';
import { expect, sharedCallboard, test } from './kit/contract-test.ts';
import {
  decide,
  decideTools,
  join,
  makeDeviceToken,
  openPairing,
  outcomeOf,
  pairDevice,
  readDevice,
  revokeDevice,
} from './kit/devices.ts';
import { asToken, makeToken } from './kit/tokens.ts';
import { connectClient, reader, spec } from './kit/tool-client.ts';

const board = sharedCallboard();

const CLAIMS = { caps: ['claim', 'cancel'] };

let count = 0;
const fresh = (name: string) => {
  count += 1;
  return `${name}_${count}`;
};

const namesOf = async (of: Callboard): Promise<string[]> => {
  const { body } = await get(of, '/api/tools');
  return (body as { tools: { name: string }[] }).tools.map(({ name }) => name);
};

const actsOf = async (act: string) => {
  const { body } = await get(board(), `/v1/audit?act=${act}&limit=200`);
  return (body as { entries: { target: string; address: string; actor: string }[] }).entries;
};

/** Why a socket does not open, as a status. */
const socketStatus = (opening: Promise<{ vanish(): unknown }>) =>
  opening.then(
    (open) => {
      open.vanish();
      return 101;
    },
    (error: { status?: number }) => error.status,
  );

test('[DV7] T20: a device that asks has nothing until a person approves, and is told at once', async ({
  connect,
}) => {
  const tool = reader(fresh('torch'));
  const watcher = await connect.watcher(board());
  await watcher.next('snapshot');
  const { code, links, workbench } = await openPairing(board());
  expect(links).toEqual([`${board().url}/pair/${code}`]);
  const look = await post(board(), '/api/pairing/look', { code }, { token: null });
  expect(look.body).toMatchObject({ workbench });
  const { token, token_hash } = makeDeviceToken();
  const asked = { code, token_hash, name: 'Pixel 8', kind: 'phone', tools: [tool, { name: '2' }] };
  const joined = await join(board(), asked, { 'user-agent': 'Chrome/140 (Linux; Android 16)' });
  expect(joined.body).toMatchObject({ workbench, rejected: [{ name: '2', code: 'bad_name' }] });
  await watcher.next('devices', ({ asking }) => asking === 1);
  expect(await socketStatus(connectClient({ ...board(), token }))).toBe(401);
  expect(await namesOf(board())).not.toContain(tool.name);
  const { pairing_id } = joined.body as { pairing_id: string };
  const held = outcomeOf(board(), token, 20_000);
  const approved = await decide(board(), pairing_id, { decision: 'approve', name: 'Phone' });
  expect(approved).toMatchObject({ state: 'approved', decided_by: 'operator' });
  const outcome = await held;
  expect(outcome).toMatchObject({ state: 'approved', device: { name: 'Phone' } });
  const client = await connect.client({ ...board(), token }, { hello: CLAIMS });
  expect(client.welcome.client_id).toBe(outcome.device?.client_id);
  expect(await client.register(tool)).toMatchObject({ registered: 1, rejected: [] });
  const id = await invoke(board(), tool.name, { n: 1 });
  await client.claim(await client.request());
  client.succeed(id, 'lit');
  expect(await finalCall(board(), id)).toMatchObject({ status: 'SUCCEEDED', result: 'lit' });
  expect((await get(board(), '/metrics')).text).toContain('callboard_devices 1');
});

test('[DV31] [DV32] a tool that changed waits and is out of the lists; a call in flight goes on, and a yes registers it', async ({
  connect,
}) => {
  const tool = reader(fresh('torch'));
  const { device, board: own } = await pairDevice(board(), [tool]);
  const client = await connect.client(own, { hello: CLAIMS, tools: [tool] });
  const running = await invoke(board(), tool.name);
  await client.claim(await client.request());
  const wider = { ...tool, description: 'Lights the whole street' };
  expect(await client.register(wider)).toMatchObject({
    ...{ registered: 0, rejected: [{ name: tool.name, code: 'waiting_for_approval' }] },
  });
  expect(await namesOf(board())).not.toContain(tool.name);
  client.succeed(running, 'lit');
  expect(await finalCall(board(), running)).toMatchObject({ status: 'SUCCEEDED', result: 'lit' });
  const { waiting } = await readDevice(board(), device.device_id);
  expect(waiting).toMatchObject([
    { tool: { description: wider.description }, before: { description: tool.description } },
  ]);
  const allow = waiting.map(({ tool: { hash } }) => hash);
  await decideTools(board(), device.device_id, { allow });
  expect(await namesOf(board())).toContain(tool.name);
  const next = await invoke(board(), tool.name);
  expect((await client.request()).id).toBe(next);
});

test('[DV41] T25: a revoked device is out within a second, and the call that it holds ends', async ({
  connect,
}) => {
  const tool = spec(fresh('pay'));
  const { device, board: own } = await pairDevice(board(), [tool]);
  const client = await connect.client(own, {
    hello: { ...CLAIMS, journal_epoch: 'e1', instance_id: fresh('in') },
    tools: [tool],
  });
  const held = await invoke(board(), tool.name);
  await client.claim(await client.request());
  const untaken = await invoke(board(), tool.name);
  await client.next('tool_call_request', ({ id }) => id === untaken);
  const from = performance.now();
  await revokeDevice(board(), device.device_id);
  const { code } = await client.closed;
  expect(performance.now() - from).toBeLessThan(1_000);
  expect(code).toBe(4401);
  expect(await namesOf(board())).not.toContain(tool.name);
  expect(await readCall(board(), held)).toMatchObject({
    ...{ status: 'FAILED', error: { code: 'outcome_unknown', executed: 'unknown' } },
  });
  expect(await readCall(board(), untaken)).toMatchObject({
    ...{ status: 'FAILED', error: { code: 'client_disconnected', executed: 'no' } },
  });
  const submit = `/internal/tool_calls/${held}/submit`;
  expect((await post(own, submit, { status: 'SUCCEEDED', result: 1 })).status).toBe(401);
  expect(await socketStatus(connectClient(own))).toBe(401);
  expect(await outcomeOf(board(), own.token)).toMatchObject({ state: 'revoked' });
});

test('[DV44] T28: who claims the client id of another is given a fresh one, and that is written down', async ({
  connect,
}) => {
  const [mine, other] = [await pairDevice(board(), []), await pairDevice(board(), [])];
  const client = await connect.client(mine.board, { hello: { instance_id: fresh('in') } });
  const { client_id, resume_token } = client.welcome;
  const hello = { client_id, resume_token, instance_id: fresh('in') };
  const device = await connect.client(other.board, { hello });
  expect(device.welcome).toMatchObject({ client_id: other.device.client_id, resumed: false });
  const olga = await makeToken(board(), {
    kind: 'operator',
    name: fresh('olga'),
    role: 'operator',
  });
  const person = await connect.client(asToken(board(), olga), { hello });
  expect(person.welcome).toMatchObject({ resumed: false });
  expect(person.welcome.client_id).not.toBe(client_id);
  await expect
    .poll(async () => (await actsOf('client_id_refused')).map(({ target }) => target))
    .toContain(client_id);
  await client.settled();
});

test('[DV40] T17 T18 T19: nothing a client says of itself gives it more', async ({ connect }) => {
  const { device, board: own } = await pairDevice(board(), []);
  const hello = {
    ...{
      role: 'operator',
      scopes: ['admin'],
      auth: { token: board().token },
      token: board().token,
    },
    ...{ client_id: 'control-ui', kind: 'program' },
  };
  const client = await connect.client(own, { hello });
  expect(client.welcome.client_id).toBe(device.client_id);
  expect((await get(own, '/v1/me')).body).toMatchObject({
    kind: 'device',
    role: null,
    tools: null,
  });
  for (const path of ['/v1/devices', '/v1/tokens', '/v1/tool_calls', '/v1/runs', '/v1/audit']) {
    expect((await get(own, path)).status).toBe(403);
  }
  expect(await socketStatus(connect.watcher(own, null))).toBe(403);
  for (const client_id of ['gateway-client', 'control-ui', 'backend']) {
    const status = await socketStatus(
      connectClient(board(), { token: null, hello: { client_id, auth: { token: 'x' } } }),
    );
    expect(status).toBe(401);
  }
});

test('[DV40] T35: a device reads no call, run, blob or event, not of its own either', async () => {
  const tool = reader(fresh('torch'));
  const { board: own } = await pairDevice(board(), [tool]);
  const client = await connectClient(own, { hello: CLAIMS, tools: [tool] });
  const id = await invoke(board(), tool.name, {}, { run_id: 'run_device' });
  const blob = await post(own, '/v1/blobs', 'hello', {
    headers: { 'content-type': 'text/plain' },
  });
  expect(blob.status).toBe(200);
  const { blob_id } = blob.body as { blob_id: string };
  const paths = [
    ...[`/v1/tool_calls/${id}`, `/v1/tool_calls/${id}/events`, '/v1/runs/run_device'],
    ...['/v1/runs/run_device/events', `/v1/blobs/${blob_id}`],
  ];
  for (const path of paths) expect(refusalOf(await get(own, path)).code).toBe('permission_denied');
  const cancel = await post(own, `/v1/tool_calls/${id}/cancel`);
  expect(refusalOf(cancel).code).toBe('permission_denied');
  await client.vanish();
});

test('[DV11] T36: refused tries, questions and decisions have an entry each, with address and reason', async () => {
  const { code } = await openPairing(board());
  for (let n = 0; n < 5; n += 1) {
    await post(board(), '/api/pairing/look', { code: '2222222Z' }, { token: null });
  }
  const [brute] = await actsOf('pairing_bruteforce');
  expect(brute).toMatchObject({
    ...{ actor: 'anonymous', address: '127.0.0.1' },
    detail: { reason: 'too many wrong codes' },
  });
  const late = await post(board(), '/api/pairing/look', { code }, { token: null });
  expect(refusalOf(late).code).toBe('not_found');
  const { text } = await get(board(), '/v1/audit?limit=200');
  expect(text).not.toContain(code);
  expect(text).not.toContain('cb_device_');
});
