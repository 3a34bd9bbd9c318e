import { snapshotSchema } from '../../lib/protocol/watch-messages.ts';
import type { Callboard } from '../start-callboard.ts';
import { get } from './kit/ask.ts';
import { finalCall, invoke, readCall } from './kit/calls.ts';
import { type Connect, expect, test } from './kit/contract-test.ts';

const MIB = 1024 * 1024;

/** It opens so many watchers at one moment, and gives the first frame that each of them gets. */
async function firstFrames(connect: Connect, board: Callboard, count: number) {
  const watchers = await Promise.all(
    Array.from({ length: count }, () => connect.watcher(board, null)),
  );
  const frames = watchers.map(
    ({ ws }) =>
      new Promise<Buffer>((resolve) =>
        ws.once('message', (data) => resolve(Buffer.from(String(data)))),
      ),
  );
  for (const watcher of watchers) watcher.watch();
  return Promise.all(frames);
}

test('§8 after 300 large calls each of 50 watchers gets a snapshot within 1 MiB, also after a restart', async ({
  connect,
  startServer,
}) => {
  const first = await startServer();
  const client = await connect.client(first, { tools: ['page.read'] });
  const text = 'x'.repeat(15_000);
  client.ws.on('message', (data) => {
    const message = JSON.parse(String(data));
    if (message.type !== 'tool_call_request') return;
    client.send({ type: 'tool_status', id: message.id, preview: text });
    client.succeed(message.id, text);
  });
  const ids: string[] = [];
  for (let n = 0; n < 300; n += 1) ids.push(await invoke(first, 'page.read', { text }));
  for (const id of ids) expect((await finalCall(first, id)).status).toBe('SUCCEEDED');

  const check = async (board: Callboard) => {
    const frames = await firstFrames(connect, board, 50);
    for (const frame of frames) expect(frame.length).toBeLessThanOrEqual(MIB);
    const { calls } = snapshotSchema.parse(JSON.parse(String(frames[0])));
    expect(calls.map(({ tool_call_id }) => tool_call_id)).toEqual(ids.slice(100));
    // The newest as they are; of the others the beginning, which says how much there is.
    expect(calls.at(-1)?.card).toMatchObject({ status: 'SUCCESS', result: text });
    expect(calls[0]?.card).toMatchObject({ truncated: true, result_bytes: text.length });
  };
  await check(first);
  await first.stop('SIGKILL');
  const second = await startServer({ dataDir: first.dataDir, token: first.token });
  await check(second);
  const [oldest] = ids;
  expect((await readCall(second, oldest ?? '')).result).toBe(text);
});

test('§8 the snapshot of a run that has been quiet has its calls, though 250 others came since', async ({
  connect,
  startServer,
}) => {
  const board = await startServer();
  const calc = (run_id: string) =>
    invoke(board, 'calculation.eval', { expression: '1+1' }, { run_id });
  const old = [await calc('run_old'), await calc('run_old')];
  for (let n = 0; n < 250; n += 1) await finalCall(board, await calc('run_new'));
  const watcher = await connect.watcher(board, { run_id: 'run_old' });
  const { calls } = await watcher.next('snapshot');
  expect(calls.map(({ tool_call_id }) => tool_call_id)).toEqual(old);
});

test('§8 256 tools with schemas of 60 kB reach watchers without them, and the list has them', async ({
  connect,
  startServer,
}) => {
  const board = await startServer();
  const watcher = await connect.watcher(board);
  await watcher.next('snapshot');
  const client = await connect.client(board);
  const parameters = { type: 'object', description: 'x'.repeat(60_000) };
  const bytes = JSON.stringify(parameters).length;
  for (let n = 0; n < 256; n += 1) {
    const tools = [{ name: `form_${n}`, description: 'A form', parameters }];
    client.send({ type: 'register_tools', tools });
  }
  const listed = await watcher.next('tools', ({ tools }) =>
    tools.some(({ name }) => name === 'form_255'),
  );
  expect(JSON.stringify(listed).length).toBeLessThan(MIB / 2);
  expect(listed.tools.find(({ name }) => name === 'form_7')).toMatchObject({
    schema: {},
    schema_bytes: bytes,
  });
  const [frame] = await firstFrames(connect, board, 1);
  expect(frame?.length).toBeLessThan(MIB / 2);
  expect((await get(board, '/api/tools?name=form_7')).body).toMatchObject({
    tools: [{ name: 'form_7', schema: parameters }],
  });
  expect((await get(board, '/v1/tools?name=form_none')).body).toEqual({ tools: [] });
});
