import type { CardUpdate } from '../../lib/protocol/card.ts';
import { invoke, readCall } from './kit/calls.ts';
import { expect, sharedCallboard, test } from './kit/contract-test.ts';

const board = sharedCallboard();

const KIB_16 = 16 * 1024;
const rows = Array.from({ length: 4_000 }, (_, n) => ({ n, note: `row ${n} é` }));
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

/** These fields of a card would weigh on every watcher. */
const weights = ({ params, result, preview }: CardUpdate) =>
  [params, result, preview].map((value) => bytesOf(value ?? null));

test('§8 a result over 16 KiB is a preview on the card that says so, and whole in the record', async ({
  connect,
}) => {
  const watcher = await connect.watcher(board());
  await watcher.next('snapshot');
  const client = await connect.client(board(), { tools: ['rows.list'] });
  const id = await invoke(board(), 'rows.list');
  await client.request();
  client.succeed(id, rows);
  await client.next('result_acknowledged');
  const call = await readCall(board(), id);
  expect(call.result).toEqual(rows);
  expect(call.card).toMatchObject({ truncated: true, result_bytes: bytesOf(rows) });
  // A beginning that is still rows, not text that ends in the middle of one.
  const shown = call.card.result as typeof rows;
  expect(shown.length).toBeGreaterThan(5);
  expect(shown).toEqual(rows.slice(0, shown.length));
  await expect.poll(() => watcher.card(id)?.status).toBe('SUCCESS');
  expect(watcher.card(id)).toEqual(call.card);
  expect(Math.max(...weights(call.card))).toBeLessThanOrEqual(KIB_16);
});

test('§8 a display over 16 KiB is kept whole beside the result, and survives a crash', async ({
  connect,
  startServer,
}) => {
  const first = await startServer();
  const client = await connect.client(first, { tools: ['chart.draw'] });
  const display = { title: 'for people', rows };
  const id = await invoke(first, 'chart.draw');
  await client.request();
  client.succeed(id, 'for the model', { display });
  await client.next('result_acknowledged');
  const before = await readCall(first, id);
  expect(before).toMatchObject({ result: 'for the model', display });
  expect(before.card).toMatchObject({
    truncated: true,
    result_bytes: bytesOf(display),
    result: { title: 'for people' },
  });
  await first.stop('SIGKILL');

  const second = await startServer({ dataDir: first.dataDir, token: first.token });
  expect(await readCall(second, id)).toEqual(before);
  const watcher = await connect.watcher(second);
  const { calls } = await watcher.next('snapshot');
  expect(calls.find((one) => one.tool_call_id === id)?.card).toEqual(before.card);
});

test('§8 arguments over 16 KiB are a preview on the card that keeps every key it can', async ({
  connect,
}) => {
  const watcher = await connect.watcher(board());
  await watcher.next('snapshot');
  const client = await connect.client(board(), { tools: ['mail.send'] });
  const args = { body: 'ü'.repeat(40_000), to: 'ada@example.org', copies: rows };
  const id = await invoke(board(), 'mail.send', args);
  expect((await client.request()).args).toEqual(args);
  const call = await readCall(board(), id);
  expect(call.args).toEqual(args);
  expect(call.card).toMatchObject({
    truncated: true,
    params_bytes: bytesOf(args),
    params: { to: 'ada@example.org' },
  });
  expect(Object.keys(call.card.params ?? {})).toEqual(['body', 'to', 'copies']);
  await expect.poll(() => watcher.card(id)?.params).toEqual(call.card.params);
  expect(Math.max(...weights(call.card))).toBeLessThanOrEqual(KIB_16);
});
