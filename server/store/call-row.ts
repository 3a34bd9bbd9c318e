import type { CallRecord } from '#lib/call/call-record';
import { CALL_FIELDS, CHANGING_FIELDS, FIXED_FIELDS } from './call-fields.ts';
import { showWhole } from './card-columns.ts';
import type { SqlValue } from './kysely-on.ts';
import { wholeRow } from './row-checksum.ts';
import type { ToolCallRow } from './tables.ts';

/** True when `next` differs from `before` in changing fields only. By identity: cheap, never wrong. */
export const sharesFixedFields = (before: CallRecord, next: CallRecord): boolean =>
  FIXED_FIELDS.every(([field]) => before[field] === next[field]);

/** The values of `FIXED_COLUMNS`. */
export const toFixedValues = (call: CallRecord): SqlValue[] => toValues(call, FIXED_FIELDS);

/** The values of `CHANGING_COLUMNS`. */
export const toChangingValues = (call: CallRecord): SqlValue[] => toValues(call, CHANGING_FIELDS);

function toValues(call: CallRecord, fields: typeof FIXED_FIELDS): SqlValue[] {
  const values: SqlValue[] = [];
  for (const [field, { write }] of fields) write(values, call[field], call);
  return values;
}

const MAY_MISS = ['deviceLeftMs', 'trusted', 'traceparent', 'modelCallId'] as const;

const FIELDS = Object.entries(CALL_FIELDS);

/** Throws `RowDamagedError` when the row is not as it was written. */
export function fromCallRow(stored: ToolCallRow): CallRecord {
  const row = wholeRow('tool_calls', stored);
  const fields: Record<string, unknown> = {};
  for (const [field, { read }] of FIELDS) fields[field] = read(row);
  for (const field of MAY_MISS) if (fields[field] === undefined) delete fields[field];
  const call = fields as unknown as CallRecord; // CALL_FIELDS has each field with its type.
  return { ...call, card: showWhole(call.card, row.card_shows, call) };
}
