import type { Compilable, ExpressionBuilder, Kysely } from 'kysely';
import type { CallRecord } from '#lib/call/call-record';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { blobIdsIn } from './blob-ids.ts';
import { CHANGING_COLUMNS, FIXED_COLUMNS } from './call-fields.ts';
import { sharesFixedFields, toChangingValues, toFixedValues } from './call-row.ts';
import { createDeletions } from './deletions.ts';
import { addRow, createKnownCalls, type EventsRow, type KnownCall } from './known-calls.ts';
import type { SqlValue } from './kysely-on.ts';
import { preparedListWrite, preparedWrite } from './prepared.ts';
import {
  toAuditRow,
  toClientRow,
  toDeliveryRow,
  toKeptRow,
  toMemoryRow,
  toMessageRow,
  toModelTurnRow,
  toRunRow,
  toSessionRow,
  toTokenRow,
} from './record-rows.ts';
import { GUARDS, type Guard, type GuardedTable } from './row-checksum.ts';
import type { WriteStep } from './step-group.ts';
import type { Change, ClientRecord } from './store.ts';
import type { Tables, ToolCallRow } from './tables.ts';
import type { WriteThread } from './write-thread.ts';

type PutMessage = Extract<Change, { type: 'put_message' }>;

/** A call in the form of its columns. `fixed`: where these are written, too. */
interface CallPut {
  readonly id: string;
  readonly fixed: readonly SqlValue[] | undefined;
  readonly changing: readonly SqlValue[];
  /** It has ended, so its words are to be indexed. */
  readonly isFinal: boolean;
}

/** A write in the form of its columns. */
export interface PreparedWrite {
  readonly calls: readonly CallPut[];
  readonly events: readonly EventsRow[];
  readonly others: readonly WriteStep[];
  /** To be called once it is committed. */
  settle(): void;
}

export interface ChangeWriter {
  /**
   * A value that cannot be written throws here, before anything is begun, and so
   * does an event that does not follow (`VersionConflictError`).
   */
  prepare(changes: readonly Change[]): PreparedWrite;
  /** The steps of one transaction: a call that is in several writes is written once, as in the last. */
  toSteps(writes: readonly PreparedWrite[]): WriteStep[];
}

/** Each tab that was ever open is an instance; of one owner those seen last are remembered. */
const KEPT_CLIENTS = 10_000;
/** At the first put, and after so many more: forgetting reads all of them. */
const FORGET_EVERY = 1_000;

type OtherChange = Exclude<Change, { readonly type: 'append_call' }>;

/** How each change is written; when is decided elsewhere. */
export function createChangeWriter(
  thread: Pick<WriteThread, 'prepare'>,
  kysely: Kysely<Tables>,
  readKnown: (id: string) => KnownCall,
  newestCall: string,
): ChangeWriter {
  const write = createPuts(thread, kysely);
  const knownCalls = createKnownCalls(readKnown, newestCall);
  const deletions = createDeletions(thread);
  let clientPuts = 0;

  const putCall = ({ id, fixed, changing }: CallPut): WriteStep =>
    fixed ? write.call([...fixed, 0, ...changing, 0]) : write.callUpdate([...changing, 0, id]);

  const putEvents = ({ callId, row, texts }: EventsRow): WriteStep =>
    write.events({ call_id: callId, version: row, events: `[${texts}]`, checksum: 0 });

  function putMessage({ message, position, replay }: PutMessage): WriteStep[] {
    const row = { ...toMessageRow(message, position, replay), checksum: 0 };
    const uses = blobIdsIn([row.parts]).map((blob_id) =>
      write.blobUse({ blob_id, user_id: row.message_id }),
    );
    return [write.message(row), ...uses];
  }

  function putClient(client: ClientRecord): WriteStep[] {
    const put = write.client({ ...toClientRow(client), checksum: 0 });
    const isTimeToForget = clientPuts % FORGET_EVERY === 0;
    clientPuts += 1;
    return isTimeToForget ? [put, deletions.clients(KEPT_CLIENTS)] : [put];
  }

  function toSteps(change: OtherChange): WriteStep[] {
    switch (change.type) {
      case 'put_idempotency': {
        const { scope, fingerprint, callId } = change.entry;
        return [write.idempotency({ scope, fingerprint, call_id: callId, checksum: 0 })];
      }
      case 'put_run':
        return [write.run({ ...toRunRow(change.run), checksum: 0 })];
      case 'put_message':
        return putMessage(change);
      case 'put_model_turn':
        return [write.modelTurn({ ...toModelTurnRow(change.turn), checksum: 0 })];
      case 'put_client':
        return putClient(change.client);
      case 'put_session':
        return [write.session({ ...toSessionRow(change.session), checksum: 0 })];
      case 'renew_session': {
        const { id_hash, ...columns } = toSessionRow(change.session);
        return [write.sessionRenewal({ ...columns, checksum: 0, id_hash })];
      }
      case 'delete_session':
        return [deletions.of('sessions', { id_hash: change.idHash })];
      case 'put_token':
        return [write.token({ ...toTokenRow(change.token), checksum: 0 })];
      case 'delete_token':
        return [
          deletions.of('tokens', { id: change.id }),
          deletions.of('memories', { owner: change.id }),
        ];
      case 'delete_sessions_of':
        return [deletions.of('sessions', { token_id: change.tokenId })];
      case 'append_audit':
        return [write.audit({ ...toAuditRow(change.entry), checksum: 0 })];
      case 'delete_audit':
        return [deletions.audit(change.before)];
      case 'put_kept':
        return [write.kept({ ...toKeptRow(change.entry), checksum: 0 })];
      case 'delete_kept':
        return [deletions.of('kept', { area: change.area, key: change.key })];
      case 'put_delivery':
        return [write.delivery({ ...toDeliveryRow(change.delivery), checksum: 0 })];
      case 'delete_deliveries':
        return deletions.deliveries(change);
      case 'put_memory':
        return [write.memory({ ...toMemoryRow(change.memory), checksum: 0 })];
      case 'delete_memory':
        return [deletions.of('memories', { owner: change.ownerToken ?? '', key: change.key })];
      case 'delete_calls':
        return deletions.calls(change);
      case 'delete_run':
        return deletions.run(change);
    }
  }

  return {
    prepare(changes) {
      const calls = knownCalls.beginWrite();
      const others: WriteStep[] = [];
      for (const change of changes) {
        if (change.type === 'append_call') {
          calls.append(change.call, change.event);
          continue;
        }
        if (change.type === 'delete_calls') for (const id of change.ids) calls.delete(id);
        others.push(...toSteps(change));
      }
      const puts = calls.states().map(({ call, before }) => toCallPut(call, before));
      calls.keep(); // Only now: a change that threw leaves no trace of the others.
      return { calls: puts, events: calls.rows, others, settle: calls.settle };
    },
    toSteps(writes) {
      const calls = new Map<string, CallPut>();
      const events: EventsRow[] = [];
      for (const { calls: puts, events: rows } of writes) {
        for (const put of puts) calls.set(put.id, joinPuts(calls.get(put.id), put));
        for (const row of rows) addRow(events, row);
      }
      const puts = [...calls.values()];
      return [
        ...puts.map(putCall),
        ...puts.flatMap(({ id, isFinal }) => (isFinal ? [write.callToIndex({ call_id: id })] : [])),
        ...events.map(putEvents),
        ...writes.flatMap(({ others }) => others),
      ];
    },
  };
}

/** Only what changed goes to disk again. */
const toCallPut = (call: CallRecord, before: CallRecord | undefined): CallPut => ({
  id: call.id,
  fixed: before && sharesFixedFields(before, call) ? undefined : toFixedValues(call),
  changing: toChangingValues(call),
  isFinal: isFinalStatus(call.status),
});

const joinPuts = (first: CallPut | undefined, second: CallPut): CallPut =>
  first ? { ...second, fixed: second.fixed ?? first.fixed } : second;

/** Every checksum in a row is 0 here; the thread that writes puts the true one in its place. */
function createPuts(thread: Pick<WriteThread, 'prepare'>, kysely: Kysely<Tables>) {
  const put = <T extends GuardedTable>(table: T, key: readonly (keyof Tables[T] & string)[]) =>
    preparedWrite(
      thread,
      (row: Tables[T]) => upsert(kysely, table, key, row),
      GUARDS[table].guards,
    );
  /** A row that is there stays as it is. */
  const add = <T extends keyof Tables>(table: T, guards: readonly Guard[] = []) =>
    preparedWrite(
      thread,
      // As in `upsert`.
      (row: Tables[T]) =>
        kysely
          .insertInto(table)
          .values(row as never)
          .onConflict((conflict) => conflict.doNothing()),
      guards,
    );
  return {
    call: preparedListWrite(
      thread,
      [...FIXED_COLUMNS, 'fixed_checksum', ...CHANGING_COLUMNS, 'checksum'],
      // The edge to SQL: FIXED_COLUMNS and CHANGING_COLUMNS are all columns.
      (row) => upsert(kysely, 'tool_calls', ['id'], row as unknown as ToolCallRow),
      GUARDS.tool_calls.guards,
    ),
    callUpdate: preparedListWrite(
      thread,
      [...CHANGING_COLUMNS, 'checksum', 'id'],
      ({ id, ...columns }) =>
        kysely
          .updateTable('tool_calls')
          .set(columns)
          .where('id', '=', id as string),
      GUARDS.tool_calls.guards.filter(({ sum }) => sum === 'checksum'),
    ),
    events: put('call_events', ['call_id', 'version']),
    callToIndex: add('calls_to_index'),
    /** The first entry of a scope stays: a key means one call for ever. */
    idempotency: add('idempotency', GUARDS.idempotency.guards),
    blobUse: add('blob_uses'),
    run: put('runs', ['run_id']),
    message: put('messages', ['message_id']),
    modelTurn: put('model_turns', ['run_id', 'number']),
    client: put('clients', ['client_id', 'instance_id']),
    session: put('sessions', ['id_hash']),
    sessionRenewal: preparedWrite(
      thread,
      ({ id_hash, ...columns }: Tables['sessions']) =>
        kysely.updateTable('sessions').set(columns).where('id_hash', '=', id_hash),
      GUARDS.sessions.guards,
    ),
    token: put('tokens', ['id']),
    audit: put('audit', ['seq']),
    delivery: put('deliveries', ['id']),
    memory: put('memories', ['owner', 'key']),
    kept: put('kept', ['area', 'key']),
  };
}

/**
 * An insert that replaces all other columns of a row with the same key. Kysely
 * types such a query for a table it knows, not for one that is a parameter: the
 * casts stand for what the signature has checked.
 */
function upsert<T extends keyof Tables>(
  kysely: Kysely<Tables>,
  table: T,
  key: readonly (keyof Tables[T] & string)[],
  row: Tables[T],
): Compilable {
  const others = Object.keys(row).filter((column) => !key.some((part) => part === column));
  const excluded = (eb: ExpressionBuilder<Tables, never>) =>
    Object.fromEntries(others.map((column) => [column, eb.ref(`excluded.${column}` as never)]));
  return kysely
    .insertInto(table)
    .values(row as never)
    .onConflict((conflict) => conflict.columns(key as never).doUpdateSet(excluded as never));
}
