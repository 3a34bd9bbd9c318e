import type { DatabaseSync } from 'node:sqlite';
import type { Kysely } from 'kysely';
import { isFinalStatus } from '#lib/protocol/call-status';
import type { CallRecord } from './call-record.ts';
import { sharesFixedColumns, toChangingColumns, toFixedColumns } from './call-row.ts';
import { preparedWrite } from './prepared.ts';
import { toClientRow, toMessageRow, toRunRow } from './record-rows.ts';
import type { Change } from './store.ts';
import type { Tables } from './tables.ts';
import { upsert } from './upsert.ts';

export interface ChangeWriter {
  /**
   * The steps that make the changes, all values already in the form of a column:
   * a value that cannot be written throws here, before anything is begun.
   */
  toSteps(changes: readonly Change[]): readonly (() => void)[];
}

/** Knows how each change is written, and nothing of when. */
export function createChangeWriter(database: DatabaseSync, kysely: Kysely<Tables>): ChangeWriter {
  const write = createPuts(database, kysely);
  /** Open calls as they were last written, so that only what changed goes to disk again. */
  const lastPut = new Map<string, CallRecord>();

  function putCall(call: CallRecord): (() => void)[] {
    const before = lastPut.get(call.id);
    const columns = toChangingColumns(call);
    const put =
      before && sharesFixedColumns(before, call)
        ? write.callUpdate({ ...columns, id: call.id })
        : write.call({ ...toFixedColumns(call), ...columns });
    return isFinalStatus(call.status) ? [put, write.callToIndex({ call_id: call.id })] : [put];
  }

  function toSteps(change: Change): (() => void)[] {
    switch (change.type) {
      case 'put_call':
        return putCall(change.call);
      case 'put_idempotency': {
        const { scope, fingerprint, callId } = change.entry;
        return [write.idempotency({ scope, fingerprint, call_id: callId })];
      }
      case 'put_run':
        return [write.run(toRunRow(change.run))];
      case 'put_message':
        return [write.message(toMessageRow(change.message, change.position))];
      case 'put_client':
        return [write.client(toClientRow(change.client))];
      case 'put_session': {
        const { idHash, createdAt, expiresAt } = change.session;
        return [write.session({ id_hash: idHash, created_at: createdAt, expires_at: expiresAt })];
      }
      case 'delete_session':
        return [write.sessionEnd({ id_hash: change.idHash })];
    }
  }

  function remember(change: Change): void {
    if (change.type !== 'put_call') return;
    const { call } = change;
    if (isFinalStatus(call.status)) lastPut.delete(call.id);
    else lastPut.set(call.id, call);
  }

  return {
    toSteps(changes) {
      const steps = changes.flatMap(toSteps);
      changes.forEach(remember); // Only now: a change that threw leaves no trace of the others.
      return steps;
    },
  };
}

function createPuts(database: DatabaseSync, kysely: Kysely<Tables>) {
  const put = <T extends keyof Tables>(table: T, key: readonly (keyof Tables[T] & string)[]) =>
    preparedWrite(database, (row: Tables[T]) => upsert(kysely, table, key, row));
  return {
    call: put('tool_calls', ['id']),
    callUpdate: preparedWrite(
      database,
      ({ id, ...columns }: ReturnType<typeof toChangingColumns> & { id: string }) =>
        kysely.updateTable('tool_calls').set(columns).where('id', '=', id),
    ),
    callToIndex: preparedWrite(database, (row: Tables['calls_to_index']) =>
      kysely
        .insertInto('calls_to_index')
        .values(row)
        .onConflict((conflict) => conflict.doNothing()),
    ),
    /** The first entry of a scope stays: a key means one call for ever. */
    idempotency: preparedWrite(database, (row: Tables['idempotency']) =>
      kysely
        .insertInto('idempotency')
        .values(row)
        .onConflict((conflict) => conflict.doNothing()),
    ),
    run: put('runs', ['run_id']),
    message: put('messages', ['message_id']),
    client: put('clients', ['client_id', 'instance_id']),
    session: put('sessions', ['id_hash']),
    sessionEnd: preparedWrite(database, ({ id_hash }: { id_hash: string }) =>
      kysely.deleteFrom('sessions').where('id_hash', '=', id_hash),
    ),
  };
}
