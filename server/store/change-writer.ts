import type { Kysely } from 'kysely';
import type { CallRecord } from '#lib/call/call-record';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import {
  type ChangingColumns,
  sharesFixedColumns,
  toChangingColumns,
  toFixedColumns,
} from './call-row.ts';
import { preparedWrite } from './prepared.ts';
import { toClientRow, toMessageRow, toRunRow, toSessionRow } from './record-rows.ts';
import { GUARDS, type GuardedTable } from './row-checksum.ts';
import type { Change, ClientRecord } from './store.ts';
import type { Tables, ToolCallRow } from './tables.ts';
import { upsert } from './upsert.ts';
import type { WriteStep, WriteThread } from './write-thread.ts';

export interface ChangeWriter {
  /**
   * The steps that make the changes, all values already in the form of a column:
   * a value that cannot be written throws here, before anything is begun.
   */
  toSteps(changes: readonly Change[]): readonly WriteStep[];
}

/** Each tab that was ever open is an instance; those seen last are remembered. */
const KEPT_CLIENTS = 10_000;
/** At the first put, and after so many more: forgetting reads all of them. */
const FORGET_EVERY = 1_000;

/** Knows how each change is written, and nothing of when. */
export function createChangeWriter(
  thread: Pick<WriteThread, 'prepare'>,
  kysely: Kysely<Tables>,
): ChangeWriter {
  const write = createPuts(thread, kysely);
  /** Open calls as they were last written, so that only what changed goes to disk again. */
  const lastPut = new Map<string, CallRecord>();
  let clientPuts = 0;

  function putCall(call: CallRecord): WriteStep[] {
    const before = lastPut.get(call.id);
    const columns = toChangingColumns(call);
    const put =
      before && sharesFixedColumns(before, call)
        ? write.callUpdate({ ...columns, checksum: 0, id: call.id })
        : write.call({ ...toFixedColumns(call), fixed_checksum: 0, ...columns, checksum: 0 });
    return isFinalStatus(call.status) ? [put, write.callToIndex({ call_id: call.id })] : [put];
  }

  function putClient(client: ClientRecord): WriteStep[] {
    const put = write.client({ ...toClientRow(client), checksum: 0 });
    const isTimeToForget = clientPuts % FORGET_EVERY === 0;
    clientPuts += 1;
    return isTimeToForget ? [put, write.clientsPast({ limit: 1, skip: KEPT_CLIENTS - 1 })] : [put];
  }

  function toSteps(change: Change): WriteStep[] {
    switch (change.type) {
      case 'put_call':
      case 'append_call':
        return putCall(change.call);
      case 'put_idempotency': {
        const { scope, fingerprint, callId } = change.entry;
        return [write.idempotency({ scope, fingerprint, call_id: callId, checksum: 0 })];
      }
      case 'put_run':
        return [write.run({ ...toRunRow(change.run), checksum: 0 })];
      case 'put_message':
        return [write.message({ ...toMessageRow(change.message, change.position), checksum: 0 })];
      case 'put_client':
        return putClient(change.client);
      case 'put_session':
        return [write.session({ ...toSessionRow(change.session), checksum: 0 })];
      case 'renew_session': {
        const { id_hash, ...columns } = toSessionRow(change.session);
        return [write.sessionRenewal({ ...columns, checksum: 0, id_hash })];
      }
      case 'delete_session':
        return [write.sessionEnd({ id_hash: change.idHash })];
    }
  }

  function remember(change: Change): void {
    if (change.type !== 'put_call' && change.type !== 'append_call') return;
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

/** Every checksum in a row is 0 here; the thread that writes puts the true one in its place. */
function createPuts(thread: Pick<WriteThread, 'prepare'>, kysely: Kysely<Tables>) {
  const put = <T extends GuardedTable>(table: T, key: readonly (keyof Tables[T] & string)[]) =>
    preparedWrite(
      thread,
      (row: Tables[T]) => upsert(kysely, table, key, row),
      GUARDS[table].guards,
    );
  return {
    call: put('tool_calls', ['id']),
    callUpdate: preparedWrite(
      thread,
      ({ id, ...columns }: ChangingColumns & Pick<ToolCallRow, 'checksum' | 'id'>) =>
        kysely.updateTable('tool_calls').set(columns).where('id', '=', id),
      GUARDS.tool_calls.guards.filter(({ sum }) => sum === 'checksum'),
    ),
    callToIndex: preparedWrite(thread, (row: Tables['calls_to_index']) =>
      kysely
        .insertInto('calls_to_index')
        .values(row)
        .onConflict((conflict) => conflict.doNothing()),
    ),
    /** The first entry of a scope stays: a key means one call for ever. */
    idempotency: preparedWrite(
      thread,
      (row: Tables['idempotency']) =>
        kysely
          .insertInto('idempotency')
          .values(row)
          .onConflict((conflict) => conflict.doNothing()),
      GUARDS.idempotency.guards,
    ),
    run: put('runs', ['run_id']),
    message: put('messages', ['message_id']),
    client: put('clients', ['client_id', 'instance_id']),
    clientsPast: preparedWrite(thread, ({ limit, skip }: { limit: number; skip: number }) =>
      kysely
        .deleteFrom('clients')
        .where('last_seen_at', '<', (seen) =>
          seen
            .selectFrom('clients')
            .select('last_seen_at')
            .orderBy('last_seen_at', 'desc')
            .limit(limit)
            .offset(skip),
        ),
    ),
    session: put('sessions', ['id_hash']),
    sessionRenewal: preparedWrite(
      thread,
      ({ id_hash, ...columns }: Tables['sessions']) =>
        kysely.updateTable('sessions').set(columns).where('id_hash', '=', id_hash),
      GUARDS.sessions.guards,
    ),
    sessionEnd: preparedWrite(thread, ({ id_hash }: { id_hash: string }) =>
      kysely.deleteFrom('sessions').where('id_hash', '=', id_hash),
    ),
  };
}
