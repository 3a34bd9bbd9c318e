import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { CallRecord } from '#lib/call/call-record';
import { finalCall } from '#lib/call/testing/sample-call';
import { CHANGING_COLUMNS, FIXED_COLUMNS } from '../call-fields.ts';
import { toChangingValues, toFixedValues } from '../call-row.ts';
import { GUARDS, rowChecksum } from '../row-checksum.ts';
import type { ToolCallRow } from '../tables.ts';

/**
 * Many final calls, the oldest first, straight into a database of any version;
 * `given` says in what each differs.
 */
export function insertCalls(
  database: DatabaseSync,
  count: number,
  given: (number: number) => Partial<ToolCallRow>,
): void {
  const same = rowOf(finalCall());
  const insert = callInsertion(database);
  database.exec('BEGIN');
  for (let number = 1; number <= count; number += 1) {
    const id = `tc_${String(number).padStart(8, '0')}`;
    insert({ ...same, id, created_at: number, ...given(number) });
  }
  database.exec('COMMIT');
}

export const insertCall = (database: DatabaseSync, call: CallRecord): void =>
  callInsertion(database)(rowOf(call));

function rowOf(call: CallRecord): Record<string, SQLInputValue> {
  const values = [...toFixedValues(call), ...toChangingValues(call)];
  const columns = [...FIXED_COLUMNS, ...CHANGING_COLUMNS];
  return Object.fromEntries(columns.map((column, place) => [column, values[place] ?? null]));
}

/** Of the columns that the table has, as a database of before has not all of them. */
function callInsertion(database: DatabaseSync): (row: Record<string, SQLInputValue>) => void {
  const { guards } = GUARDS.tool_calls;
  const names = database
    .prepare("SELECT name FROM pragma_table_info('tool_calls') WHERE name IS NOT 'row_no'")
    .all()
    .map(({ name }) => String(name));
  const insert = database.prepare(
    `INSERT INTO tool_calls (${names}) VALUES (${names.map(() => '?')})`,
  );
  const known = new Set(names);
  return (row) => {
    const sums = guards.map(({ sum, of }) => {
      const values = of.map((name) => (known.has(name) ? row[name] : null));
      return [sum, rowChecksum(values)] as const;
    });
    const whole: Record<string, SQLInputValue> = { ...row, ...Object.fromEntries(sums) };
    insert.run(...names.map((name) => whole[name] ?? null));
  };
}
