import { DatabaseSync } from 'node:sqlite';
import type { RawBuilder } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import type { Call } from '#lib/call/call';
import { changed, finalCall, sampleCall, sampleProvider } from '#lib/call/testing/sample-call';
import { createLogApplier } from './apply-log.ts';
import { CallOverlay, NOT_THERE } from './call-overlay.ts';
import { compileQuery } from './compile-query.ts';
import { firstRows } from './first-rows.ts';
import { migrate } from './migrate.ts';
import { MIGRATIONS } from './migrations.ts';
import { writeCursor } from './page-cursor.ts';
import { createLogReader } from './read-log.ts';
import { defineRowChecksum } from './row-checksum.ts';
import type { AuditQuery, CallQuery, RunQuery } from './store.ts';
import { queryAudit, queryCalls, queryRuns } from './store-queries.ts';
import { insertCalls } from './testing/insert-calls.ts';
import { appendCall } from './testing/store-setup.ts';
import { TERMS_TABLE } from './word-terms.ts';

function setup() {
  const database = new DatabaseSync(':memory:');
  onTestFinished(() => database.close());
  defineRowChecksum(database);
  migrate(database, MIGRATIONS);
  database.exec(TERMS_TABLE);
  const asked: ReturnType<typeof compileQuery>[] = [];
  /** What happens before the queries of a list, by their places. */
  const meanwhile: (() => void)[] = [];
  const overlay = new CallOverlay({ read: () => NOT_THERE, newest: '', position: 0, open: [] });
  const reader = {
    async rows<Row>(query: RawBuilder<Row>, maxChars = Number.POSITIVE_INFINITY) {
      meanwhile[asked.length]?.();
      const compiled = compileQuery(query);
      asked.push(compiled);
      const rows = database.prepare(compiled.sql).all(...compiled.values);
      return firstRows(rows as (object & Row)[], maxChars);
    },
  };
  const log = createLogReader(database, reader);
  /** How SQLite runs a query, a line for each table. */
  const planOf = ({ sql, values }: ReturnType<typeof compileQuery>): string[] =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...values)
      .map((row) => String(row.detail));
  return {
    database,
    asked,
    planOf,
    overlay,
    meanwhile,
    list: (query: CallQuery) => queryCalls(reader, log, overlay, query),
    listAudit: (query: AuditQuery) => queryAudit(reader, query),
    listRuns: (query: RunQuery) => queryRuns(reader, query),
  };
}

const FILTERS = {
  runId: 'run_1',
  status: 'FAILED',
  tool: 'echo.text',
  client: 'cl_1',
  ownerToken: 'tok_1',
} as const satisfies Partial<CallQuery>;

const subsets: Partial<CallQuery>[] = [{}];
for (const [name, value] of Object.entries(FILTERS)) {
  subsets.push(...subsets.map((set) => ({ ...set, [name]: value })));
}
const pages = [{}, { cursor: writeCursor([7]) }];
const asks = [...pages, ...pages.map((page) => ({ text: 'berlin', ...page }))];
const lists = subsets.flatMap((filters) =>
  asks.map((more) => ({ limit: 50, ...filters, ...more })),
);

test.each(lists)('[ST42] no list looks through all calls: %j', async (query) => {
  const parts = setup();
  await parts.list(query);
  const asked = parts.asked.filter(({ sql }) => !sql.includes('from clients'));
  const plans = asked.flatMap(parts.planOf);
  const ofCalls = plans.filter((line) => /\b(calls|fit)\b/.test(line));
  expect(ofCalls).not.toEqual([]);
  const isWhole = query.text === undefined && Object.keys(query).length === 1;
  // Without a filter the newest calls of all are the page, and the limit ends the scan of the table.
  if (isWhole) expect(ofCalls[0]).toBe('SCAN calls');
  expect(ofCalls.slice(isWhole ? 1 : 0).filter((line) => !line.startsWith('SEARCH'))).toEqual([]);
  expect(plans.filter((line) => /TEMP B-TREE/.test(line))).toEqual([]);
});

const combined = subsets.filter((filters) => Object.keys(filters).length > 1);

test.each(combined)('[ST42] which calls fit is read from indexes alone: %j', async (filters) => {
  const parts = setup();
  await parts.list({ limit: 50, ...filters });
  const rows = parts.asked.find(({ sql }) => sql.includes('page_no'));
  const lines = (rows ? parts.planOf(rows) : []).filter((line) => /\b(calls|fit)\b/.test(line));
  expect(lines.at(-1)).toBe('SEARCH calls USING INTEGER PRIMARY KEY (rowid=?)');
  expect(lines).toHaveLength(1 + Object.keys(filters).length);
  for (const line of lines.slice(0, -1)) expect(line).toContain('USING COVERING INDEX');
});

test('[ST42] the calls of several clients are merged, not sorted', async () => {
  const parts = setup();
  const put = parts.database.prepare(`INSERT INTO clients VALUES (?, '', 'Pixel', 'phone', '', '',
    0, 0, '')`);
  for (const id of ['cl_1', 'cl_2', 'cl_3']) put.run(id);
  insertCalls(parts.database, 9, (number) => ({
    provider: { ...sampleProvider, clientId: `cl_${(number % 4) + 1}` },
  }));
  const page = await parts.list({ limit: 5, client: 'Pixel' });
  expect(page.calls.map(({ id }) => Number(id.slice(3)))).toEqual([9, 8, 6, 5, 4]);
  const next = await parts.list({ limit: 5, client: 'Pixel', cursor: page.nextCursor ?? '' });
  expect(next.calls.map(({ id }) => Number(id.slice(3)))).toEqual([2, 1]);
  const plan = parts.asked.slice(1, 2).flatMap(parts.planOf);
  expect(plan.filter((line) => /TEMP B-TREE/.test(line))).toEqual([]);
  expect(plan).toContain('MERGE (UNION ALL)');
});

test.each([{}, { cursor: writeCursor([1, 'run_1']) }])(
  '[ST72] the runs of a token are read from their index, in its order: %j',
  async (more) => {
    const parts = setup();
    await parts.listRuns({ limit: 50, ownerToken: 'tok_1', ...more });
    expect(parts.asked.flatMap(parts.planOf)).toEqual([
      expect.stringMatching(/^SEARCH runs USING INDEX runs_by_owner \(<expr>=\?/),
    ]);
  },
);

test.each([{}, { actor: 'a' }, { act: 'extended' }, { actor: 'a', act: 'extended' }] as const)(
  '[ST73] acts are read from an index, in its order: %j',
  async (filters) => {
    const parts = setup();
    await parts.listAudit({ limit: 50, before: 7, ...filters });
    const index = { 0: 'audit_by_seq', 2: 'audit_by_both' }[Object.keys(filters).length];
    expect(parts.asked.flatMap(parts.planOf)).toEqual([
      expect.stringMatching(new RegExp(`^SEARCH audit USING INDEX ${index ?? 'audit_by_act'}`)),
    ]);
  },
);

test.each([
  ['two fit', 7, [['5', '4'], ['3', '2'], ['1']]],
  ['none fits', 17, [['5'], ['4'], ['3'], ['2'], ['1']]],
])(
  '[ST42] a page of calls of which %s ends with as many, one at least, and the next one goes on',
  async (_, mebibytes, expected) => {
    const parts = setup();
    insertCalls(parts.database, 5, () => ({}));
    const event = `'[{"version":2,"type":"status","at":1,"actor":"a","patch":{},"shown":{"tip":"' ||
      hex(zeroblob(${mebibytes * 512 * 1024})) || '"}}]'`;
    parts.database.exec(`INSERT INTO log
      SELECT seq + 100, call_id, 2, 1, ${event}, row_checksum(call_id, 2, 1, ${event}) FROM log`);
    const pages: string[][] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await parts.list({ limit: 50, ...(cursor === undefined ? {} : { cursor }) });
      pages.push(page.calls.map(({ id }) => id.slice(-1)));
      cursor = page.nextCursor;
    }
    expect(pages).toEqual(expected);
  },
);

/** Writes to the log, as the thread that writes does. */
function write({ database, overlay }: ReturnType<typeof setup>, ...calls: readonly Call[]) {
  const write = overlay.beginWrite();
  for (const call of calls) write.append(call, appendCall(call).event);
  const insert = database.prepare(
    'INSERT INTO log VALUES (?1, ?2, ?3, ?4, ?5, row_checksum(?2, ?3, ?4, ?5))',
  );
  for (const { seq, callId, version, ends, texts } of write.rows) {
    insert.run(seq, callId, version, ends ? 1 : 0, `[${texts.join(',')}]`);
  }
  write.keep();
  write.settle();
}

function apply({ database, overlay }: ReturnType<typeof setup>): void {
  overlay.applied(createLogApplier(database)().upTo);
}

const FIVE = ['1', '2', '3', '4', '5'].map((digit) => {
  const id = `tc_${digit}`;
  return digit === '2' ? sampleCall({ id }) : finalCall({ id, provider: sampleProvider });
});

test.each([
  [{}, ['tc_5', 'tc_4', 'tc_3', 'tc_2', 'tc_1']],
  [{ status: 'SUCCEEDED', client: 'cl_1' }, ['tc_5', 'tc_4', 'tc_3', 'tc_1']],
  [{ status: 'PENDING' }, ['tc_2']],
] as const)(
  '[ST83] calls that are put into the table while a list is read are in it once: %j',
  async (filters, expected) => {
    for (const limit of [50, 2]) {
      for (let place = 0; place < 6; place += 1) {
        const parts = setup();
        write(parts, ...FIVE);
        parts.meanwhile[place] = () => apply(parts);
        const ids: string[] = [];
        for (let cursor: string | null | undefined; cursor !== null; ) {
          const page = await parts.list({ ...filters, limit, ...(cursor ? { cursor } : {}) });
          ids.push(...page.calls.map(({ id }) => id));
          cursor = page.nextCursor;
        }
        expect([place, ids]).toEqual([place, expected]);
      }
    }
  },
);

test('[ST83] a call that ends while a list of its status is read is not shown under that', async () => {
  for (const place of [0, 1]) {
    const parts = setup();
    write(parts, ...FIVE);
    parts.meanwhile[place] = () => {
      write(parts, { ...finalCall({ id: 'tc_2' }), version: 2 });
      apply(parts);
    };
    expect((await parts.list({ limit: 50, status: 'PENDING' })).calls).toEqual([]);
  }
});

test('[ST83] nothing is held in memory of a call that is in the table', () => {
  const parts = setup();
  write(parts, ...FIVE);
  write(parts, { ...finalCall({ id: 'tc_2' }), version: 2 });
  write(parts, changed(finalCall({ id: 'tc_3' }), { version: 2, lateResult: 'late' }));
  apply(parts);
  expect(parts.overlay.find(() => true)).toEqual([]);
  expect(parts.overlay.hasRun('run_1')).toBe(false);
});

/** Filters that are met by many calls each: two of them together by the oldest call alone. */
const mixed = (number: number): Partial<Call> => ({
  toolName: number > 1 && number <= 11_000 ? 'rare.tool' : 'echo.text',
  status: number === 2 ? 'TIMEOUT' : number <= 11_000 ? 'FAILED' : 'SUCCEEDED',
});

test('[ST42] a page in which few calls fit ends, and its cursor goes on behind what was looked at', async () => {
  const parts = setup();
  write(parts, finalCall({ id: 'tc_first', status: 'FAILED' })); // It is not in the table yet.
  insertCalls(parts.database, 36_000, mixed);
  const query = { limit: 50, tool: 'echo.text', status: 'FAILED' } as const;
  const first = await parts.list(query);
  expect(first.calls).toEqual([]);
  const second = await parts.list({ ...query, cursor: first.nextCursor ?? '' });
  expect(second.calls.map(({ id }) => id)).toEqual(['tc_00000001', 'tc_first']);
  expect(second.nextCursor).toBeNull();
});

test('[ST42] of several filters the narrowest is walked along', async () => {
  const parts = setup();
  insertCalls(parts.database, 36_000, mixed);
  for (const text of [undefined, 'word']) {
    if (text !== undefined) {
      parts.database.exec(`INSERT INTO tool_call_text (rowid, tool_name, args, result, error)
        SELECT call_no, 'word', '', '', '' FROM calls`);
    }
    const query = { limit: 50, status: 'TIMEOUT', runId: 'run_1', ...(text && { text }) } as const;
    const page = await parts.list(query);
    expect(page.calls.map(({ id }) => id)).toEqual(['tc_00000002']);
    expect(page.nextCursor).toBeNull();
  }
});

test('[ST42] a search whose filter has many calls goes on behind what was looked at', async () => {
  const parts = setup();
  insertCalls(parts.database, 36_000, mixed);
  parts.database.exec(`INSERT INTO tool_call_text (rowid, tool_name, args, result, error)
    SELECT call_no, 'word', '', '', '' FROM calls`);
  const query = { limit: 50, status: 'FAILED', text: 'wor' } as const;
  const first = await parts.list(query);
  expect(first.calls).toEqual([]);
  const second = await parts.list({ ...query, cursor: first.nextCursor ?? '' });
  expect(second.calls).toHaveLength(50);
  expect(second.calls[0]?.id).toBe('tc_00011000');
});

test('[ST42] a word of which few terms begin so is looked up by these, one with many as a beginning', async () => {
  const parts = setup();
  insertCalls(parts.database, 12, () => ({}));
  const insert = parts.database.prepare(
    `INSERT INTO tool_call_text (rowid, tool_name, args, result, error) VALUES (?, ?, '', '', '')`,
  );
  for (let row = 1; row <= 12; row += 1) insert.run(row, `Berlin ber${row} 北`);
  const matchOf = async (text: string) => {
    parts.asked.length = 0;
    const { calls } = await parts.list({ limit: 50, text });
    const match = parts.asked.flatMap(({ values }) => values).find((one) => /"/.test(`${one}`));
    return [match, calls.length];
  };
  expect(await matchOf('BERL')).toEqual(['("berlin")', 12]);
  expect(await matchOf('ber1')).toEqual(['("ber1" OR "ber10" OR "ber11" OR "ber12")', 4]);
  expect(await matchOf('ber berlin')).toEqual(['("ber" *) AND ("berlin")', 12]);
  expect(await matchOf('nowhere')).toEqual(['("nowhere" *)', 0]);
  expect(await matchOf('be"r1 北')).toEqual(['("be""r1" *) AND ("北" *)', 0]);
});
