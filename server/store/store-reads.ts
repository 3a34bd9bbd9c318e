import type { DatabaseSync } from 'node:sqlite';
import { type Kysely, sql } from 'kysely';
import { isBeyond, type KnownCall, NOT_THERE } from './known-calls.ts';
import { preparedRead } from './prepared.ts';
import { fromEventsRow } from './record-rows.ts';
import type { Tables } from './tables.ts';

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
    call: preparedRead(database, ({ id }: { id: string }) =>
      kysely.selectFrom('tool_calls').selectAll().where('id', '=', id),
    ),
    callBytes: preparedRead(database, ({ id }: { id: string }) =>
      kysely
        .selectFrom('tool_calls')
        // SQLite has the length of a text in bytes without its pages.
        .select(
          sql<number>`ifnull(octet_length(args), 0) + ifnull(octet_length(result), 0)
          + ifnull(octet_length(display), 0) + ifnull(octet_length(late_result), 0)`.as('bytes'),
        )
        .where('id', '=', id),
    ),
    version: preparedRead(database, ({ id }: { id: string }) =>
      kysely.selectFrom('tool_calls').select('version').where('id', '=', id),
    ),
    newestCall: preparedRead(database, () =>
      kysely.selectFrom('tool_calls').select((eb) => eb.fn.max('id').as('id')),
    ),
    eventChars: preparedRead(database, ({ call_id }: { call_id: string }) =>
      kysely
        .selectFrom('call_events')
        .select((eb) => eb.fn.sum<number | null>(eb.fn('length', ['events'])).as('chars'))
        .where('call_id', '=', call_id),
    ),
    newestEvents: preparedRead(database, ({ call_id, limit }: { call_id: string; limit: number }) =>
      kysely
        .selectFrom('call_events')
        .selectAll()
        .where('call_id', '=', call_id)
        .orderBy('version', 'desc')
        .limit(limit),
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

/** What the tables have of a call: it may be appended to. */
export function readKnownCall(read: ReturnType<typeof createReads>, id: string): KnownCall {
  const version = read.version({ id })?.version ?? 0;
  if (version === 0) return NOT_THERE;
  const chars = read.eventChars({ call_id: id })?.chars ?? 0;
  const newest = isBeyond(version, chars) && read.newestEvents({ call_id: id, limit: 1 });
  if (!newest) return { version, chars };
  const [event, ...more] = fromEventsRow(newest);
  const isAlone = event?.type === 'status' && more.length === 0;
  return { version, chars, ...(isAlone && { joinable: { row: newest.version, event } }) };
}
