import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { beforeAll, expect, test, vi } from 'vitest';
import { finalCall } from '#lib/call/testing/sample-call';
import { isUntrustedResult } from '#lib/call/untrusted-result';
import { sharedTempDir } from '#lib/testing/temp-dir';
import { type Agent, FIRST_OPERATOR, type Principal } from '../../auth/principal.ts';
import { createStoreOnThisThread } from '../../store/testing/store-on-this-thread.ts';
import {
  appendCall,
  putMessage,
  putRun,
  sampleMessage,
  sampleRun,
} from '../../store/testing/store-setup.ts';
import { bundledWorker } from '../../testing/bundled-worker.ts';
import { runBuiltin } from '../testing/run-builtin.ts';
import { createHistoryQuery } from './builtin-tools.ts';

vi.setConfig({ testTimeout: 120_000 });

const agent = (name: string): Agent => ({
  kind: 'agent',
  name,
  tokenId: `tk_${name}`,
  tools: ['database.query'],
});
const dir = sharedTempDir();

/** A history of two agents and of the first operator: a run with a message and a call of each. */
beforeAll(async () => {
  const store = createStoreOnThisThread({
    file: join(dir, 'callboard.db'),
    isTrusted: false,
    log() {},
    onFailed(error) {
      throw error;
    },
  });
  for (const name of ['ada', 'bob', 'operator']) {
    const token = name === 'operator' ? null : `tk_${name}`;
    const owner = token === null ? {} : { owner: { name: `agent:${name}`, token_id: token } };
    const text = `${name} asks`;
    await store.write([
      putRun(sampleRun({ run_id: `run_${name}`, title: text, ...owner })),
      putMessage(
        sampleMessage({
          message_id: `msg_${name}`,
          run_id: `run_${name}`,
          parts: [{ type: 'text', text }],
        }),
        0,
      ),
      appendCall(
        finalCall({ id: `tc_${name}`, runId: `run_${name}`, ownerToken: token, version: 1 }),
      ),
    ]);
  }
  await store.toolUse.recent({ limit: 1 }); // The table of calls has them, then.
  await store.close();
});

const databaseTool = () =>
  createHistoryQuery(join(dir, 'callboard.db'), bundledWorker('database-worker.mjs'));

async function query(principal: Principal, sql: string): Promise<unknown> {
  const output = await runBuiltin(databaseTool(), { sql }, { principal });
  return output instanceof Object && 'rows' in output ? output.rows : undefined;
}

const ada = agent('ada');
const ADAS = {
  'select id from calls order by id': [['tc_ada']],
  'select call_id from log': [['tc_ada']],
  'select run_id, title from runs': [['run_ada', 'ada asks']],
  'select message_id from messages': [['msg_ada']],
  'select count(*) from calls': [[1]],
  'with mine as (select run_id from runs) select count(*) from mine': [[1]],
  "select value from json_each('[7]')": [[7]],
};

test('[TB35] an agent reads its own runs, messages, calls and their events, and a person those of all', async () => {
  for (const [sql, rows] of Object.entries(ADAS)) expect(await query(ada, sql), sql).toEqual(rows);
  const run: Principal = { kind: 'run', runId: 'run_ada', owner: ada };
  expect(await query(run, 'select id from calls')).toEqual([['tc_ada']]);
  const all = await query(FIRST_OPERATOR, 'select id from calls order by id');
  expect(all).toEqual([['tc_ada'], ['tc_bob'], ['tc_operator']]);
});

test('[TB35] T98: what a query gives of the words of the history counts as written by others', async () => {
  const marked = async (sql: string) => {
    const result = await runBuiltin(databaseTool(), { sql }, { principal: FIRST_OPERATOR });
    return isUntrustedResult({ toolName: 'database.query', source: 'server', result });
  };
  expect(await marked('select events from log')).toBe(true);
  expect(await marked('select title from runs')).toBe(true);
  expect(await marked('select tool_name, count(*) from calls group by 1')).toBe(false);
});

test('[TB36] between queries of the history its log can be written back', async () => {
  const tool = databaseTool();
  const store = new DatabaseSync(join(dir, 'callboard.db'));
  const slow = (n: number) =>
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${n}) select count(*) from n, runs`;
  const ended: unknown[] = [];
  const queries = [4_000_000, 400_000, 5_000_000].map(async (n) =>
    ended.push(await runBuiltin(tool, { sql: slow(n) }, { principal: FIRST_OPERATOR })),
  );
  const states: ('free' | 'read')[] = [];
  while (ended.length < queries.length) {
    store.exec("UPDATE runs SET title = title || '.'");
    const { busy } = { ...store.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() };
    if (ended.length > 0) states.push(busy === 0 ? 'free' : 'read');
    await setImmediate();
  }
  store.close();
  await Promise.all(queries);
  const free = states.indexOf('free');
  expect(free).toBeGreaterThanOrEqual(0);
  expect(states.slice(free)).toContain('read');
});

test('[TB35] no statement of an agent comes round its own rows', async () => {
  const around = [
    'select id from main.calls',
    'select count(*) from main.calls',
    'select 1 from runs where exists (select 1 from main.calls)',
    'with calls as (select * from main.calls) select * from calls',
    'select * from (select * from main.messages) as messages',
    'select sql from sqlite_temp_schema',
    'select count(*) from sqlite_temp_master',
    'select count(*) from clients',
    'select * from open_calls',
    'select * from blob_uses',
    'select rowid from tool_call_text',
    "select rowid from tool_call_text where tool_call_text match 'ask*'",
    'select * from tool_call_text_data',
    'select text from memories',
    'select * from tokens',
  ];
  for (const sql of around)
    await expect(query(ada, sql), sql).rejects.toThrow(/^The table "\w+" cannot be read\.$/);
});

test('[TB35] the tables that the tool describes are those that an agent can read', async () => {
  const { description } = databaseTool();
  const named = /tables ([a-z_, ]+)\)/.exec(description)?.[1]?.split(', ') ?? [];
  expect(named).toEqual(['calls', 'log', 'runs', 'messages', 'model_turns']);
  for (const table of named) await query(ada, `select count(*) from ${table}`);
});
