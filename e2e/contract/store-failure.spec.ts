import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { invoke } from './kit/calls.ts';
import { expect, test } from './kit/contract-test.ts';

test('§2 a result that cannot be written gets no word at all, and the socket is closed with 1012', async ({
  startServer,
  connect,
}) => {
  const board = await startServer();
  const hello = { caps: ['claim', 'cancel'], journal_epoch: 'e' };
  const client = await connect.client(board, { hello, tools: ['echo'] });
  const said: unknown[] = [];
  client.ws.on('message', (data) => said.push(JSON.parse(String(data)).type));
  const written = await invoke(board, 'echo');
  await client.claim(await client.request());
  client.succeed(written, 'first', { attempt: 1 });
  await client.next('result_acknowledged');
  const id = await invoke(board, 'echo');
  await client.claim(await client.request());
  // The store fails as with a disk that takes no more.
  const database = new DatabaseSync(join(board.dataDir, 'callboard.db'), { timeout: 30_000 });
  database.exec(`CREATE TRIGGER broken BEFORE INSERT ON log
    BEGIN SELECT RAISE(FAIL, 'no more writes'); END`);
  said.length = 0;
  client.succeed(id, 'second', { attempt: 1 });
  expect((await client.closed).code).toBe(1012);
  expect(said).toEqual([]);
  const row = database.prepare('SELECT max(ends) AS ended FROM log WHERE call_id = ?').get(id);
  database.close();
  expect(row).toEqual({ ended: 0 });
});
