import type { DatabaseSync } from 'node:sqlite';
import type { SqlValue } from './compile-query.ts';
import type { ClientRow, RunRow, Tables, TokenRow } from './tables.ts';

/** What is asked for one at a time and often, or at a start, as prepared statements. */
export function createReads(database: DatabaseSync) {
  /** The first row of those that the values lead to. */
  const first = <Row>(sql: string) => {
    const statement = database.prepare(sql);
    // The casts are the edge to SQL, here and below.
    return (...values: readonly SqlValue[]) => statement.get(...values) as Row | undefined;
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
    run: first<RunRow>('SELECT * FROM runs WHERE run_id = ?'),
    idempotency: first<Tables['idempotency']>('SELECT * FROM idempotency WHERE scope = ?'),
    client: first<ClientRow>('SELECT * FROM clients WHERE client_id = ? AND resume_token_hash = ?'),
    anyInstance: first<Pick<ClientRow, 'owner'>>('SELECT owner FROM clients WHERE client_id = ?'),
    session: first<Tables['sessions']>('SELECT * FROM sessions WHERE id_hash >= ? AND id_hash < ?'),
    tokens: () => tokens.all() as unknown as TokenRow[],
    kept: (area: string) => kept.all(area) as unknown as Tables['kept'][],
    /** Takes the next `count` numbers, the first of which is 1, and returns the first of them. */
    reserveSeqs(count: number): number {
      const row = reserve(count);
      if (!row) throw new Error('no event numbers were reserved');
      return row.value - count;
    },
  };
}
