import type { SqlValue } from './compile-query.ts';
import type { Change } from './store.ts';
import type { Tables } from './tables.ts';
import type { WriteStep, WriteThread } from './write-thread.ts';

type DeleteCalls = Extract<Change, { type: 'delete_calls' }>;
type DeleteDeliveries = Extract<Change, { type: 'delete_deliveries' }>;
type DeleteRun = Extract<Change, { type: 'delete_run' }>;

/** One that has ended; of its row in the table of calls its words know the number. */
const OF_CALL = [
  `DELETE FROM tool_call_text WHERE rowid = (SELECT call_no FROM calls WHERE id = ?)`,
  `DELETE FROM calls WHERE id = ?`,
  `DELETE FROM idempotency WHERE call_id = ?`,
  `DELETE FROM blob_uses WHERE user_id = ?`,
  `DELETE FROM open_calls WHERE call_id = ?`,
  `DELETE FROM log WHERE call_id = ?`,
];

/** It may have been used again since it was looked at. */
const UNUSED_RUN = `SELECT run_id FROM runs WHERE run_id = ? AND status <> 'running' AND updated_at < ?
  AND NOT EXISTS (SELECT 1 FROM calls WHERE calls.run_id = runs.run_id)`;

const OF_RUN = [
  `DELETE FROM blob_uses WHERE user_id IN
    (SELECT message_id FROM messages WHERE run_id IN (${UNUSED_RUN}))`,
  `DELETE FROM messages WHERE run_id IN (${UNUSED_RUN})`,
  `DELETE FROM model_turns WHERE run_id IN (${UNUSED_RUN})`,
  `DELETE FROM runs WHERE run_id IN (${UNUSED_RUN})`,
];

/** The newest stays, so that numbers go on from it. */
const OLD_AUDIT = `DELETE FROM audit WHERE seq IN
  (SELECT seq FROM audit WHERE at < ? AND seq < (SELECT max(seq) FROM audit) ORDER BY at LIMIT 500)`;

/** The ids of clients that were made here have this form, by which `hasFormOfNewId` knows them. */
const MADE_HERE = `client_${'[0-9a-f]'.repeat(32)}`;

/** By time, then by number. */
const OLD_DELIVERIES = `DELETE FROM deliveries WHERE id IN
  (SELECT id FROM deliveries WHERE ended_at < ? ORDER BY ended_at LIMIT 500)`;
const MANY_DELIVERIES = `DELETE FROM deliveries WHERE id IN
  (SELECT id FROM deliveries WHERE ended_at <=
    (SELECT ended_at FROM deliveries WHERE ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT 1 OFFSET ?)
  ORDER BY ended_at LIMIT 500)`;

/**
 * The instances of one owner that were seen longest ago; but the newest one of a client stays whose
 * id its owner chose, so that the id is nobody else's. Nobody can choose one that was made here.
 */
const OLD_CLIENTS = `DELETE FROM clients WHERE (client_id, instance_id) IN (
  SELECT client_id, instance_id FROM (
    SELECT client_id, instance_id, owner,
      row_number() OVER (PARTITION BY owner ORDER BY last_seen_at DESC) AS of_owner,
      row_number() OVER (PARTITION BY client_id ORDER BY last_seen_at DESC) AS of_client
    FROM clients)
  WHERE of_owner > ? AND (of_client > 1 OR owner IS NULL OR client_id GLOB '${MADE_HERE}'))`;

const DELETED_UP_TO = `INSERT INTO meta (key, value) VALUES ('deleted_up_to', ?)
  ON CONFLICT (key) DO UPDATE SET value = max(value, excluded.value)`;

/** How what is old is deleted: the steps of one write each. */
export function createDeletions(thread: Pick<WriteThread, 'prepare'>) {
  const prepared = new Map<string, number>();
  const step = (sql: string, ...values: SqlValue[]): WriteStep => {
    const statement = prepared.get(sql) ?? thread.prepare(sql);
    prepared.set(sql, statement);
    return [statement, values];
  };
  return {
    /** All rows of the table that have these values. */
    of<T extends keyof Tables>(table: T, values: Partial<Tables[T]> & Record<string, SqlValue>) {
      const fits = Object.keys(values).map((column) => `${column} = ?`);
      return step(`DELETE FROM ${table} WHERE ${fits.join(' AND ')}`, ...Object.values(values));
    },
    clients: (keptOfOwner: number): WriteStep => step(OLD_CLIENTS, keptOfOwner),
    calls: ({ ids, endedAt }: DeleteCalls): WriteStep[] => [
      ...ids.flatMap((id) => OF_CALL.map((sql) => step(sql, id))),
      step(DELETED_UP_TO, endedAt),
    ],
    audit: (before: number): WriteStep => step(OLD_AUDIT, before),
    deliveries: ({ endedBefore, most }: DeleteDeliveries): WriteStep[] => [
      step(OLD_DELIVERIES, endedBefore),
      step(MANY_DELIVERIES, most),
    ],
    run: ({ runId, changedBefore }: DeleteRun): WriteStep[] =>
      OF_RUN.map((sql) => step(sql, runId, changedBefore)),
  };
}
