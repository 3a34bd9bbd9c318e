import type { DatabaseSync } from 'node:sqlite';
import type { Call } from '#lib/call/call';
import { finalCall } from '#lib/call/testing/sample-call';
import { toCallRow, toLoggedCall } from '../call-table.ts';
import { toLogText } from '../log-text.ts';
import { rowChecksum } from '../row-checksum.ts';
import { appendCall } from './store-setup.ts';

const rowOf = (callNo: number, call: Call) => {
  const { event } = appendCall(call);
  return toCallRow(callNo, toLoggedCall([event], toLogText(event).length + 2));
};

/** Many ended calls, the oldest first, straight into the tables; `given` says in what each differs. */
export function insertCalls(
  database: DatabaseSync,
  count: number,
  given: (number: number) => Partial<Call>,
): void {
  const names = Object.keys(rowOf(0, finalCall()));
  const insert = database.prepare(`INSERT INTO calls (${names}) VALUES (${names.map(() => '?')})`);
  const log = database.prepare('INSERT INTO log VALUES (?, ?, 1, 1, ?, ?)');
  const before = Number(database.prepare('SELECT max(seq) AS newest FROM log').get()?.newest ?? 0);
  database.exec('BEGIN');
  for (let number = 1; number <= count; number += 1) {
    const id = `tc_${String(number).padStart(8, '0')}`;
    const times = { createdAt: number, completedAt: number };
    const call = finalCall({ id, ...times, ...given(number) });
    const { event } = appendCall(call);
    const events = `[${toLogText(event)}]`;
    log.run(before + number, id, events, rowChecksum([id, 1, 1, events]));
    insert.run(...Object.values(rowOf(before + number, call)));
  }
  database.exec(`UPDATE meta SET value = ${before + count} WHERE key = 'applied'; COMMIT`);
}
