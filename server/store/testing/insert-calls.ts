import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { toChangingColumns, toFixedColumns } from '../call-row.ts';
import { GUARDS, rowChecksum } from '../row-checksum.ts';
import type { ToolCallRow } from '../tables.ts';
import { finalCall } from './sample-call.ts';

/**
 * Many final calls, the oldest first, straight into a database of any version
 * that has checksums; `given` says in what each differs.
 */
export function insertCalls(
  database: DatabaseSync,
  count: number,
  given: (number: number) => Partial<ToolCallRow>,
): void {
  const same = { ...toFixedColumns(finalCall()), ...toChangingColumns(finalCall()) };
  const names = [...Object.keys(same), 'fixed_checksum', 'checksum'];
  const insert = database.prepare(
    `INSERT INTO tool_calls (${names}) VALUES (${names.map(() => '?')})`,
  );
  database.exec('BEGIN');
  for (let number = 1; number <= count; number += 1) {
    const id = `tc_${String(number).padStart(8, '0')}`;
    const row: Record<string, SQLInputValue> = {
      ...same,
      id,
      created_at: number,
      ...given(number),
    };
    const sums = GUARDS.tool_calls.guards.map(({ of }) => rowChecksum(of.map((name) => row[name])));
    insert.run(...Object.values(row), ...sums);
  }
  database.exec('COMMIT');
}
