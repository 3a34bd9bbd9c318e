import { get, post } from './kit/ask.ts';
import { finalCall, invoke, readCall } from './kit/calls.ts';
import { expect, sharedCallboard, test } from './kit/contract-test.ts';
import type { Watcher } from './kit/watcher.ts';

const board = sharedCallboard();

const rises = (seqs: readonly number[]) =>
  seqs.every((seq, index) => index === 0 || seq > (seqs[index - 1] ?? 0));
const seqsOf = (watcher: Watcher) => watcher.events().map(({ seq }) => seq);
const calc = (expression: string, run_id = 'run_watch') =>
  invoke(board(), 'calculation.eval', { expression }, { run_id });

test('§8 the snapshot has runs, calls, tools, clients and approvals as of its number', async ({
  connect,
}) => {
  await connect.client(board(), { hello: { client_id: 'c', name: 'C' }, tools: ['listed'] });
  const id = await calc('1+1', 'run_snapshot');
  await finalCall(board(), id);
  const watcher = await connect.watcher(board());
  const snapshot = await watcher.next('snapshot');
  expect(snapshot.calls.find((call) => call.tool_call_id === id)).toMatchObject({
    run_id: 'run_snapshot',
    card: { status: 'SUCCESS', tool_name: 'calculation.eval', source: 'server' },
  });
  expect(snapshot.runs.map(({ run_id }) => run_id)).toContain('run_snapshot');
  expect(snapshot.tools.map(({ name }) => name)).toContain('listed');
  expect(snapshot.clients.find(({ client_id }) => client_id === 'c')).toMatchObject({
    name: 'C',
    connected: true,
    tools: ['listed'],
  });
  expect(snapshot.approvals).toEqual([]);
});

test('§8 who comes back with since gets what is newer, and no snapshot', async ({ connect }) => {
  const first = await connect.watcher(board());
  const { seq } = await first.next('snapshot');
  const id = await calc('2+2');
  await first.next('call', (one) => one.tool_call_id === id && one.update.status === 'SUCCESS');
  const again = await connect.watcher(board(), { since: seq });
  await again.next('call', (one) => one.update.status === 'SUCCESS');
  expect(again.inbox.some(({ type }) => type === 'snapshot')).toBe(false);
  expect(again.events()[0]?.seq).toBeGreaterThan(seq);
  const shared = (watcher: Watcher) =>
    watcher.events().filter((event) => event.type === 'call' && event.tool_call_id === id);
  expect(shared(again)).toEqual(shared(first));
  const newest = Math.max(...seqsOf(first));
  const idle = await connect.watcher(board(), { since: newest });
  const next = await calc('3+3');
  const event = await idle.next('call');
  expect(event.tool_call_id).toBe(next);
});

test('§8 since a number that no event has yet, there is a snapshot', async ({ connect }) => {
  const watcher = await connect.watcher(board(), { since: 9_007_199_254_740_991 });
  expect((await watcher.next('snapshot')).seq).toBeLessThan(9_007_199_254_740_991);
  const id = await calc('4+4');
  await watcher.next('call', (one) => one.tool_call_id === id && one.update.status === 'SUCCESS');
});

test('§8 who watches one run sees no other, yet sees tools and clients come', async ({
  connect,
}) => {
  await finalCall(board(), await calc('1', 'run_mine'));
  const watcher = await connect.watcher(board(), { run_id: 'run_mine' });
  const snapshot = await watcher.next('snapshot');
  expect(snapshot.calls.every((call) => call.run_id === 'run_mine')).toBe(true);
  expect(snapshot.runs.map(({ run_id }) => run_id)).toEqual(['run_mine']);
  await finalCall(board(), await calc('2', 'run_theirs'));
  const mine = await calc('3', 'run_mine');
  await watcher.next('call', (one) => one.tool_call_id === mine && one.update.status === 'SUCCESS');
  await connect.client(board(), { tools: ['newcomer'] });
  await watcher.next('tools', (one) => one.tools.some(({ name }) => name === 'newcomer'));
  expect(JSON.stringify(watcher.inbox)).not.toContain('run_theirs');
});

test('§8 what happened in one moment comes in one frame, in order', async ({ connect }) => {
  const client = await connect.client(board(), { tools: ['moment'] });
  const watcher = await connect.watcher(board());
  await watcher.next('snapshot');
  const frames: unknown[] = [];
  watcher.ws.on('message', (data) => frames.push(JSON.parse(String(data)).type));
  const ids = await Promise.all(Array.from({ length: 20 }, () => invoke(board(), 'moment')));
  for (const id of ids) client.succeed(id, 1);
  await expect
    .poll(() => ids.filter((id) => watcher.card(id)?.status === 'SUCCESS').length)
    .toBe(ids.length);
  expect(frames).toContain('batch');
  expect(rises(seqsOf(watcher))).toBe(true);
});

test('§8 a watcher that sends nonsense gets an error and goes on', async ({ connect }) => {
  const watcher = await connect.watcher(board());
  await watcher.next('snapshot');
  for (const frame of [
    '{',
    '[]',
    '{"type":"look"}',
    '{"type":"watch","since":-1}',
    '{"type":"watch","run_id":7}',
    '{"type":"watch","since":"1"}',
    Buffer.from([0, 255]),
  ]) {
    watcher.send(frame);
    expect(await watcher.next('error')).toMatchObject({ code: 'bad_message' });
  }
  const id = await calc('5+5');
  await watcher.next('call', (one) => one.tool_call_id === id && one.update.status === 'SUCCESS');
});

test('§5 a watcher that floods is closed with 1008', async ({ connect }) => {
  const watcher = await connect.watcher(board(), null);
  for (let n = 0; n < 500; n += 1) watcher.watch({ run_id: 'run_flood' });
  expect((await watcher.closed).code).toBe(1008);
});

test('§2 replaying the updates, from the first or from any snapshot on, gives the same card', async ({
  connect,
}) => {
  const always = await connect.watcher(board());
  await always.next('snapshot');
  const client = await connect.client(board(), { tools: ['replayed'] });
  const id = await invoke(board(), 'replayed', { a: 1 });
  await client.request();
  const late: Watcher[] = [];
  for (let n = 1; n <= 5; n += 1) {
    client.send({ type: 'tool_status', id, params: { [`p${n}`]: n }, progress: { done: n } });
    client.send({ type: 'tool_status', id, tip: `step ${n}`, preview: { n } });
    late.push(await connect.watcher(board()));
  }
  client.succeed(id, 'out', { display: { shown: true } });
  await client.next('result_acknowledged');
  await expect.poll(() => always.card(id)?.status).toBe('SUCCESS');
  const { card } = await readCall(board(), id);
  expect(always.card(id)).toEqual(card);
  for (const watcher of late) {
    const { calls } = await watcher.next('snapshot');
    const from = calls.find((call) => call.tool_call_id === id);
    await expect.poll(() => watcher.cardFrom(from?.card, id)).toEqual(card);
  }
});

test('§8 a slow watcher is cut off with 4013, and delays no other', async ({ connect }) => {
  const quick = await connect.watcher(board());
  await quick.next('snapshot');
  const watchers = async () =>
    Number(/^callboard_watchers (\d+)/m.exec((await get(board(), '/metrics')).text)?.[1]);
  const large = 'x'.repeat(15_000);
  const client = await connect.client(board(), { tools: ['heavy'] });
  client.ws.on('message', (data) => {
    const message = JSON.parse(String(data));
    if (message.type !== 'tool_call_request') return;
    client.send({ type: 'tool_status', id: message.id, preview: large });
    client.succeed(message.id, large);
  });
  const cutOff = async () => {
    const slow = await connect.watcher(board());
    await slow.next('snapshot');
    const before = await watchers();
    slow.ws.pause();
    // More than the kernel and the server keep for it together; a larger value is only a preview.
    const ids: string[] = [];
    for (let n = 0; n < 500; n += 1) ids.push(await invoke(board(), 'heavy', { text: large }));
    await expect
      .poll(() => ids.filter((id) => quick.card(id)?.status === 'SUCCESS').length)
      .toBe(ids.length);
    await expect.poll(watchers, { timeout: 20_000, intervals: [50] }).toBe(before - 1);
    slow.ws.resume();
    return (await slow.closed).code;
  };
  // A second after it was told to go the line is cut: on a busy machine that is seen too late once.
  const code = await cutOff();
  expect(code === 1006 ? await cutOff() : code).toBe(4013);
  const back = await connect.watcher(board());
  expect((await back.next('snapshot')).calls.length).toBeGreaterThanOrEqual(200);
});

test('§8 numbers rise over a crash and a restart, where since gives a snapshot', async ({
  connect,
  startServer,
}) => {
  const first = await startServer();
  const before = await connect.watcher(first);
  await before.next('snapshot');
  const run = { run_id: 'run_restart', args: { expression: '1+1' }, wait_ms: 5_000 };
  await post(first, '/v1/tools/calculation.eval/invoke', run);
  await before.next('call', (one) => one.update.status === 'SUCCESS');
  const newest = Math.max(...seqsOf(before));
  await first.stop('SIGKILL');
  const second = await startServer({ dataDir: first.dataDir, token: first.token });
  const after = await connect.watcher(second, { since: newest });
  const snapshot = await after.next('snapshot');
  expect(snapshot.seq).toBeGreaterThanOrEqual(newest);
  expect(snapshot.calls).toHaveLength(1);
  await post(second, '/v1/tools/calculation.eval/invoke', run);
  const event = await after.next('call');
  expect(event.seq).toBeGreaterThan(Math.max(newest, snapshot.seq));
});
