import type { DatabaseSync } from 'node:sqlite';
import type { SqlValue } from './compile-query.ts';
import {
  clientRows,
  idempotencyRows,
  keptRows,
  runRows,
  sessionRows,
  tokenRows,
} from './record-rows.ts';
import type { Tables } from './tables.ts';

/** Prepared statements read what is asked for one at a time and often, or at a start. */
export function createReads(database: DatabaseSync) {
  /** The first row of those that the values lead to. */
  const first = <Row>(sql: string) => {
    const statement = database.prepare(sql);
    // The casts are the edge to SQL, here and below.
    return (...values: readonly SqlValue[]) => statement.get(...values) as Row | undefined;
  };
  /** The same as the record that it holds. */
  const record = <Row, Stored>(rows: { from(row: Row): Stored }, sql: string) => {
    const find = first<Row>(sql);
    return async (...values: readonly SqlValue[]): Promise<Stored | undefined> => {
      const row = find(...values);
      return row && rows.from(row);
    };
  };
  const reserve = first<{ value: number }>(`INSERT INTO meta (key, value)
    VALUES ('next_seq', 1 + ?1) ON CONFLICT (key) DO UPDATE SET value = value + ?1 RETURNING value`);
  const tokens = database.prepare('SELECT * FROM tokens');
  const kept = database.prepare('SELECT * FROM kept WHERE area = ? ORDER BY put_at, key');
  return {
    // SQLite has the length of a text in bytes without its pages.
    callBytes: first<{ bytes: number | null }>(
      'SELECT sum(octet_length(events)) AS bytes FROM log WHERE call_id = ?',
    ),
    newestCall: first<{ id: string | null }>('SELECT max(call_id) AS id FROM log'),
    clientOwner: first<Pick<Tables['clients'], 'owner'>>(
      'SELECT owner FROM clients WHERE client_id = ?',
    ),
    getRun: record(runRows, 'SELECT * FROM runs WHERE run_id = ?'),
    getIdempotency: record(idempotencyRows, 'SELECT * FROM idempotency WHERE scope = ?'),
    findClient: record(
      clientRows,
      'SELECT * FROM clients WHERE client_id = ? AND resume_token_hash = ?',
    ),
    findSession: record(sessionRows, 'SELECT * FROM sessions WHERE id_hash >= ? AND id_hash < ?'),
    listTokens: async () => (tokens.all() as unknown as Tables['tokens'][]).map(tokenRows.from),
    listKept: async (area: string) =>
      (kept.all(area) as unknown as Tables['kept'][]).map(keptRows.from),
    /** Takes the next `count` numbers, the first of which is 1, and returns the first of them. */
    reserveSeqs(count: number): number {
      const row = reserve(count);
      if (!row) throw new Error('no event numbers were reserved');
      return row.value - count;
    },
  };
}
