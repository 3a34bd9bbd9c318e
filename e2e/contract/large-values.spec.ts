import type { CardUpdate } from '../../lib/protocol/card.ts';
import { get } from './kit/ask.ts';
import { finalCall, invoke, readCall } from './kit/calls.ts';
import { expect, sharedCallboard, test } from './kit/contract-test.ts';

const board = sharedCallboard();

const KIB_16 = 16 * 1024;
const rows = Array.from({ length: 4_000 }, (_, n) => ({ n, note: `row ${n} é` }));
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

/** What of a card would weigh on every watcher. */
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

test('[HT34] §8 a small display is in the record too, and none is no field of it', async ({
  connect,
}) => {
  const client = await connect.client(board(), { tools: ['two.faces'] });
  const shown = await invoke(board(), 'two.faces');
  await client.request();
  client.succeed(shown, 1, { display: null });
  expect(await finalCall(board(), shown)).toMatchObject({ result: 1, display: null });
  const plain = await invoke(board(), 'two.faces');
  await client.request();
  client.succeed(plain, 1);
  expect(await finalCall(board(), plain)).not.toHaveProperty('display');
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

test('§8 a status preview over 16 KiB follows the same rule; a small one after it is whole again', async ({
  connect,
}) => {
  const watcher = await connect.watcher(board());
  await watcher.next('snapshot');
  const client = await connect.client(board(), { tools: ['scan.page'] });
  const id = await invoke(board(), 'scan.page');
  await client.request();
  const preview = rows.slice(0, 1_500);
  client.send({ type: 'tool_status', id, preview, tip: 'x'.repeat(2_000) });
  await expect.poll(() => watcher.card(id)?.preview_bytes).toBe(bytesOf(preview));
  expect(watcher.card(id)?.truncated).toBe(true);
  expect(Math.max(...weights(watcher.card(id) ?? {}))).toBeLessThanOrEqual(KIB_16);
  expect((await readCall(board(), id)).preview).toEqual(preview);
  client.send({ type: 'tool_status', id, preview: 'done soon' });
  await expect.poll(() => watcher.card(id)?.preview).toBe('done soon');
  expect(watcher.card(id)).toMatchObject({ truncated: false, preview_bytes: null });
  expect((await readCall(board(), id)).preview).toBe('done soon');
});

test('§6 a list has previews of what is over 16 KiB, and the whole when it is asked for', async ({
  connect,
}) => {
  const client = await connect.client(board(), { tools: ['list.both'] });
  const args = { text: 'a'.repeat(50_000) };
  const id = await invoke(board(), 'list.both', args, { run_id: 'run_list' });
  await client.request();
  client.succeed(id, rows, { display: { rows } });
  await client.next('result_acknowledged');
  const list = async (include: string) => {
    const { body } = await get(board(), `/v1/tool_calls?run_id=run_list${include}`);
    return (body as { tool_calls: Record<string, unknown>[] }).tool_calls[0];
  };
  const short = await list('');
  expect(short).toMatchObject({
    truncated: true,
    args_bytes: bytesOf(args),
    result_bytes: bytesOf(rows),
    display_bytes: bytesOf({ rows }),
  });
  expect(bytesOf(short)).toBeLessThan(KIB_16 * 2);
  expect(await list('&include=args')).toMatchObject({ args, result_bytes: bytesOf(rows) });
  const whole = await list('&include=args,result');
  expect(whole).toMatchObject({ args, result: rows, display: { rows } });
  expect(whole).not.toHaveProperty('truncated');
  expect((await get(board(), '/v1/tool_calls?include=everything')).status).toBe(400);
});

test('§6 a page of the list ends at 4 MiB, and the pages together hold every call once', async ({
  connect,
}) => {
  const client = await connect.client(board(), { tools: ['list.large'] });
  const ids: string[] = [];
  for (let n = 0; n < 6; n += 1) {
    const id = await invoke(board(), 'list.large', {}, { run_id: 'run_large' });
    ids.unshift(id);
    await client.request();
    client.succeed(id, `${n}${'x'.repeat(1_500_000)}`);
    await client.next('result_acknowledged');
  }
  for (const include of ['&include=result', '']) {
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const answer = await get(
        board(),
        `/v1/tool_calls?run_id=run_large${include}&cursor=${encodeURIComponent(cursor)}`,
      );
      expect(answer.bytes.length).toBeLessThanOrEqual(4 * 1024 * 1024);
      const page = answer.body as { tool_calls: { tool_call_id: string }[]; next_cursor: string };
      seen.push(...page.tool_calls.map((one) => one.tool_call_id));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(ids);
  }
});
