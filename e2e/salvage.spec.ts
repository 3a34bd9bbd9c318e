import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { WireCallRecord } from '../lib/protocol/call-record.ts';
import { get } from './contract/kit/ask.ts';
import { finalCall, invoke, readCall } from './contract/kit/calls.ts';
import { type Connect, expect, test } from './contract/kit/contract-test.ts';
import { spec } from './contract/kit/tool-client.ts';
import type { Callboard, StartOptions } from './start-callboard.ts';

const CALLS = 40;
const PAGE = 4_096;
const LOG_HEADER = 32;
const FRAME = 24 + PAGE;

/** A person starts it so: behind `npm start` is this, and the arguments are passed on. */
const launcher = (board: Callboard, ...args: string[]): StartOptions => ({
  serverFile: resolve(import.meta.dirname, '../server/bootstrap/run.mjs'),
  args: ['serve', ...args],
  dataDir: board.dataDir,
  token: board.token,
});

const fileOf = (board: Callboard) => join(board.dataDir, 'callboard.db');
const wordOf = (n: number) => `word${n}of${CALLS}`;

/** Calls that succeeded, some of whose results fill several pages. */
async function makeCalls(board: Callboard, connect: Connect): Promise<WireCallRecord[]> {
  const tool = spec('repeat', { annotations: { readOnlyHint: true } });
  const client = await connect.client(board, { tools: [tool] });
  const records: WireCallRecord[] = [];
  for (let n = 0; n < CALLS; n += 1) {
    const id = await invoke(board, 'repeat', { word: wordOf(n) });
    await client.request();
    client.succeed(id, `${n} `.repeat(n % 10 === 0 ? 9_000 : 400));
    records.push(await finalCall(board, id));
  }
  expect(records.every(({ status }) => status === 'SUCCEEDED')).toBe(true);
  return records;
}

async function expectRecords(board: Callboard, records: readonly WireCallRecord[]) {
  for (const record of records) {
    expect(await readCall(board, record.tool_call_id)).toEqual(record);
  }
}

/** The page that leads to all calls is gone, and a letter of one of them is another. */
async function damageDatabase(file: string, word: string): Promise<Buffer> {
  const database = new DatabaseSync(file, { readOnly: true });
  const found = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'log'");
  const page = Number(found.get()?.rootpage);
  database.close();
  const bytes = await readFile(file);
  expect(bytes[(page - 1) * PAGE]).toBe(5); // A page that only leads to others.
  bytes.fill(0, (page - 1) * PAGE, page * PAGE);
  for (let at = bytes.indexOf(word); at >= 0; at = bytes.indexOf(word, at)) bytes.write('W', at);
  await writeFile(file, bytes);
  return bytes;
}

/** The first frame from the log's middle on whose page a later frame has, too. */
function frameWrittenAgain(log: Buffer) {
  const frames = Math.floor((log.length - LOG_HEADER) / FRAME);
  const placeOf = (frame: number) => LOG_HEADER + (frame - 1) * FRAME;
  const pages = Array.from({ length: frames }, (_, n) => log.readUInt32BE(placeOf(n + 1)));
  const middle = Math.floor(frames / 2);
  const found = pages.findIndex((page, n) => n >= middle && pages.includes(page, n + 1));
  expect(found).toBeGreaterThan(0);
  return { frame: found + 1, at: placeOf(found + 1) };
}

test('a damaged record is refused by its place, and --salvage brings back each call that is whole', async ({
  connect,
  startServer,
}) => {
  const board = await startServer();
  const file = fileOf(board);
  const records = await makeCalls(board, connect);
  expect(await board.stop()).toBe(0);
  const lost = records[7];
  const others = records.filter((record) => record !== lost);
  const damaged = await damageDatabase(file, wordOf(7));

  const refused = startServer(launcher(board));
  await expect(refused).rejects.toThrow(
    /ended with 78 .*callboard\.db is damaged: .*page .*--salvage/s,
  );
  expect(await readFile(file)).toEqual(damaged);

  const salvaged = await startServer(launcher(board, '--salvage'));
  expect(salvaged.log()).toMatch(/\nlog: \d+ rows kept, [1-9] lost\n/);
  const [kept = ''] = (await readdir(board.dataDir)).filter((name) => name.includes('.damaged-'));
  expect(salvaged.log()).toContain(`the damaged files are kept as ${join(board.dataDir, kept)}\n`);
  expect(await readFile(join(board.dataDir, kept))).toEqual(damaged);
  await expectRecords(salvaged, others);
  expect((await get(salvaged, `/v1/tool_calls/${lost?.tool_call_id}`)).status).toBe(404);
  const more = await makeCalls(salvaged, connect);
  expect(await salvaged.stop()).toBe(0);

  const again = await startServer(launcher(board));
  await expectRecords(again, [...others, ...more]);
  expect(again.log()).not.toContain('damaged');
  expect(await again.stop()).toBe(0);
});

test('a log that is damaged in its middle is refused by its frame, and --salvage brings what lies behind it', async ({
  connect,
  startServer,
}) => {
  const board = await startServer();
  const records = await makeCalls(board, connect);
  await board.stop('SIGKILL');
  const log = `${fileOf(board)}-wal`;
  const bytes = await readFile(log);
  const { frame, at } = frameWrittenAgain(bytes);
  // The page is written again behind it, so nothing is missing.
  bytes.writeUInt8(bytes.readUInt8(at + 16) ^ 1, at + 16);
  await writeFile(log, bytes);

  const place = `frame ${frame} of the log ${log} at byte ${at}`;
  await expect(startServer(launcher(board))).rejects.toThrow(place);
  expect(await readFile(log)).toEqual(bytes);
  const salvaged = await startServer(launcher(board, '--salvage'));
  expect(salvaged.log()).toMatch(/\nlog: \d+ rows kept, 0 lost\n/);
  await expectRecords(salvaged, records);
  expect(await salvaged.stop()).toBe(0);
});
