import type { Snapshot, WatchServerMessage } from '../../lib/protocol/watch-messages.ts';
import { finalCall, invoke } from './kit/calls.ts';
import { expect, sharedCallboard, test } from './kit/contract-test.ts';
import { spec } from './kit/tool-client.ts';

/** Three seconds of a line of 20 kB/s. */
const FIRST_BYTES = 60 * 1024;
const PART_BYTES = 49 * 1024;

const board = sharedCallboard();

type Call = Snapshot['calls'][number];
const byId = (calls: readonly Call[]) =>
  [...calls].sort((a, b) => (a.tool_call_id < b.tool_call_id ? -1 : 1));

test('§8 with a history of 250 calls what waits comes in the first 60 KiB, and the parts make up the snapshot', async ({
  connect,
}) => {
  const text = 'a'.repeat(600);
  const client = await connect.client(board(), { tools: [spec('note'), spec('gate')] });
  for (let n = 0; n < 250; n += 1) {
    const id = await invoke(board(), 'note', { text }, { run_id: `run_${n % 25}` });
    await client.request();
    client.succeed(id, text);
    if (n === 249) await finalCall(board(), id);
  }
  const open = await invoke(board(), 'gate', { text }, { run_id: 'run_open' });

  const whole = await connect.watcher(board(), null);
  const wholeBytes = bytesOf(whole.ws);
  whole.watch({ changes: true });
  const all = await whole.next('snapshot');
  expect(await wholeBytes).toBeGreaterThan(4 * FIRST_BYTES);

  const watcher = await connect.watcher(board(), null);
  const first = bytesOf(watcher.ws);
  watcher.watch({ changes: true, parts: true });
  const snapshot = await watcher.next('snapshot');
  expect(await first).toBeLessThanOrEqual(FIRST_BYTES);
  expect(snapshot.calls.map((one) => one.tool_call_id)).toEqual([open]);

  const calls: Call[] = [...snapshot.calls];
  const { rest } = snapshot;
  let from = rest && 'ended' in rest ? rest.ended : null;
  while (from !== null) {
    const size = bytesOf(watcher.ws);
    watcher.send({ type: 'ended', from });
    const part = await watcher.next('ended');
    expect(await size).toBeLessThanOrEqual(PART_BYTES);
    calls.push(...part.calls);
    from = part.next;
  }
  expect(byId(calls)).toEqual(byId(all.calls));
  // Between and after the parts what is new comes as ever.
  client.succeed(open, 'done');
  await watcher.next('call', (one) => one.update.status === 'SUCCESS');
});

/** The bytes of the next frame that is no event. */
function bytesOf(ws: {
  on(name: 'message', take: (data: unknown) => void): unknown;
}): Promise<number> {
  return new Promise((resolve) => {
    ws.on('message', (data) => {
      const { type }: WatchServerMessage = JSON.parse(String(data));
      if (type === 'snapshot' || type === 'ended') resolve(Buffer.byteLength(String(data)));
    });
  });
}
