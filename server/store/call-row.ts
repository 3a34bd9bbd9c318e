import type { CallRecord } from '#lib/call/call-record';
import { CALL_FIELDS, CHANGING_FIELDS, FIXED_FIELDS } from './call-fields.ts';
import { showWhole } from './card-columns.ts';
import type { SqlValue } from './kysely-on.ts';
import { wholeRow } from './row-checksum.ts';
import type { ToolCallRow } from './tables.ts';

type Summed = 'fixed_checksum' | 'checksum';

/** True when `next` differs from `before` in changing fields only. By identity: cheap, never wrong. */
export const sharesFixedFields = (before: CallRecord, next: CallRecord): boolean =>
  FIXED_FIELDS.every(([field]) => before[field] === next[field]);

/** Each column of a call but its checksums, which are computed where the row is written. */
export const toCallColumns = (call: CallRecord): Omit<ToolCallRow, Summed> =>
  // Complete by the type of CALL_FIELDS and the test of its columns.
  ({ ...toColumns(call, FIXED_FIELDS), ...toColumns(call, CHANGING_FIELDS) }) as Omit<
    ToolCallRow,
    Summed
  >;

export const toChangingColumns = (call: CallRecord): Partial<ToolCallRow> =>
  toColumns(call, CHANGING_FIELDS);

function toColumns(call: CallRecord, fields: typeof FIXED_FIELDS): Partial<ToolCallRow> {
  const row: Record<string, SqlValue> = {};
  for (const [field, { columns, write }] of fields) {
    const values = write(call[field], call);
    for (let at = 0; at < columns.length; at += 1) row[columns[at] ?? ''] = values[at] ?? null;
  }
  return row;
}

const FIELDS = Object.entries(CALL_FIELDS);

/** Throws `RowDamagedError` when the row is not as it was written. */
export function fromCallRow(stored: ToolCallRow): CallRecord {
  const row = wholeRow('tool_calls', stored);
  const fields: Record<string, unknown> = {};
  for (const [field, { read }] of FIELDS) fields[field] = read(row);
  if (fields.deviceLeftMs === undefined) delete fields.deviceLeftMs;
  const call = fields as unknown as CallRecord; // CALL_FIELDS has each field with its type.
  return { ...call, card: showWhole(call.card, row.card_shows, call) };
}
