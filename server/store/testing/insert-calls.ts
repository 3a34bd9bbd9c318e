import type { DatabaseSync } from 'node:sqlite';
import { finalCall } from '#lib/call/testing/sample-call';
import { toCallRow } from '../call-table.ts';
import type { CallRow } from '../tables.ts';

/** Many rows of ended calls, the oldest first, straight into the table; `given` says in what each differs. */
export function insertCalls(
  database: DatabaseSync,
  count: number,
  given: (number: number) => Partial<CallRow>,
): void {
  const same = toCallRow(0, { call: finalCall(), entries: [], bytes: 1_000 });
  const names = Object.keys(same);
  const insert = database.prepare(`INSERT INTO calls (${names}) VALUES (${names.map(() => '?')})`);
  database.exec('BEGIN');
  for (let number = 1; number <= count; number += 1) {
    const id = `tc_${String(number).padStart(8, '0')}`;
    const row = { ...same, call_no: number, id, created_at: number, ended_at: number };
    insert.run(...Object.values({ ...row, ...given(number) }));
  }
  database.exec('COMMIT');
}
