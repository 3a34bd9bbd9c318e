import type { DatabaseSync } from 'node:sqlite';
import { type Kysely, sql } from 'kysely';
import { foldEvents } from '#lib/call/fold';
import { headOf, type KnownCall, NOT_THERE } from './call-overlay.ts';
import { fromLogRow } from './log-text.ts';
import { preparedRead } from './prepared.ts';
import type { LogRow, Tables } from './tables.ts';

const NEXT_SEQ = 'next_seq';

/** What is asked for one at a time and often, as prepared statements. */
export function createReads(database: DatabaseSync, kysely: Kysely<Tables>) {
  const reserve = preparedRead(
    database,
    ({ key, first, count }: { key: string; first: number; count: number }) =>
      kysely
        .insertInto('meta')
        .values({ key, value: first })
        .onConflict((conflict) =>
          conflict.column('key').doUpdateSet((eb) => ({ value: eb('meta.value', '+', count) })),
        )
        .returning('value'),
  );
  return {
    callBytes: preparedRead(database, ({ call_id }: { call_id: string }) =>
      kysely
        .selectFrom('log')
        // SQLite has the length of a text in bytes without its pages.
        .select(sql<number | null>`sum(octet_length(events))`.as('bytes'))
        .where('call_id', '=', call_id),
    ),
    callNo: preparedRead(database, ({ id }: { id: string }) =>
      kysely.selectFrom('calls').select('call_no').where('id', '=', id),
    ),
    newestCall: preparedRead(database, () =>
      kysely.selectFrom('log').select((eb) => eb.fn.max('call_id').as('id')),
    ),
    run: preparedRead(database, ({ run_id }: { run_id: string }) =>
      kysely.selectFrom('runs').selectAll().where('run_id', '=', run_id),
    ),
    idempotency: preparedRead(database, ({ scope }: { scope: string }) =>
      kysely.selectFrom('idempotency').selectAll().where('scope', '=', scope),
    ),
    client: preparedRead(database, (key: { client_id: string; resume_token_hash: string }) =>
      kysely
        .selectFrom('clients')
        .selectAll()
        .where('client_id', '=', key.client_id)
        .where('resume_token_hash', '=', key.resume_token_hash),
    ),
    anyInstance: preparedRead(database, ({ client_id }: { client_id: string }) =>
      kysely.selectFrom('clients').select('owner').where('client_id', '=', client_id),
    ),
    session: preparedRead(database, ({ from, below }: { from: string; below: string }) =>
      kysely
        .selectFrom('sessions')
        .selectAll()
        .where('id_hash', '>=', from)
        .where('id_hash', '<', below),
    ),
    /** Takes the next `count` numbers, the first of which is 1, and returns the first of them. */
    reserveSeqs(count: number): number {
      const row = reserve({ key: NEXT_SEQ, first: count + 1, count });
      if (!row) throw new Error('no event numbers were reserved');
      return row.value - count;
    },
  };
}

/** The rows of one call in the log, in their order. */
export function createLogReads(database: DatabaseSync) {
  const rows = database.prepare('SELECT * FROM log WHERE call_id = ? ORDER BY version');
  return (id: string): LogRow[] => rows.all(id) as unknown as LogRow[]; // The edge to SQL.
}

/** What the log has of a call that is appended to, and that has ended before this process or lately. */
export function readKnownCall(
  { callNo }: Pick<ReturnType<typeof createReads>, 'callNo'>,
  rows: readonly LogRow[],
): KnownCall {
  const [first] = rows;
  const call = foldEvents(rows.flatMap(fromLogRow));
  if (!first || !call) return NOT_THERE;
  const no = callNo({ id: call.id })?.call_no ?? first.seq;
  const seq = rows.at(-1)?.seq ?? 0;
  const { version } = call;
  return { version, callNo: no, seq, head: headOf(call, no) };
}
