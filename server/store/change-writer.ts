import type { Compilable, ExpressionBuilder, Kysely } from 'kysely';
import { blobIdsIn } from './blob-ids.ts';
import type { CallOverlay, NewLogRow } from './call-overlay.ts';
import { createDeletions } from './deletions.ts';
import { preparedWrite } from './prepared.ts';
import {
  auditRows,
  clientRows,
  deliveryRows,
  idempotencyRows,
  keptRows,
  modelTurnRows,
  runRows,
  sessionRows,
  tokenRows,
  toMemoryRow,
  toMessageRow,
} from './record-rows.ts';
import { GUARDS, type Guard, type GuardedTable } from './row-checksum.ts';
import type { WriteStep } from './step-group.ts';
import type { Change, ClientRecord } from './store.ts';
import type { Tables } from './tables.ts';
import type { WriteThread } from './write-thread.ts';

type PutMessage = Extract<Change, { type: 'put_message' }>;

/** A write in the form of its columns. */
export interface PreparedWrite {
  /** Its `settle` is called once it is committed. */
  readonly calls: ReturnType<CallOverlay['beginWrite']>;
  readonly others: readonly WriteStep[];
  /** The place in the log that it takes; a write without an event takes one, too. */
  readonly position: number;
}

export interface ChangeWriter {
  /**
   * A value that cannot be written throws here, before anything is begun, and so
   * does an event that does not follow (`VersionConflictError`).
   */
  prepare(changes: readonly Change[]): PreparedWrite;
  /** The steps of one transaction: events of one call are one row. `position` is what it takes the log to. */
  toSteps(writes: readonly PreparedWrite[]): { steps: WriteStep[]; position: number };
}

/** Each tab that was ever open is an instance; of one owner those seen last are remembered. */
const KEPT_CLIENTS = 10_000;
/** At the first put, and after so many more: forgetting reads all of them. */
const FORGET_EVERY = 1_000;

type OtherChange = Exclude<Change, { readonly type: 'append_call' | 'delete_calls' }>;

/** How each change is written; when is decided elsewhere. */
export function createChangeWriter(
  thread: Pick<WriteThread, 'prepare'>,
  kysely: Kysely<Tables>,
  overlay: CallOverlay,
): ChangeWriter {
  const write = createPuts(thread, kysely);
  const deletions = createDeletions(thread);
  let clientPuts = 0;
  const placed = (value: number): WriteStep => write.position({ value, key: 'commits' });

  const putRow = ({ seq, callId, version, ends, texts }: NewLogRow): WriteStep => {
    const events = `[${texts.join(',')}]`;
    return write.log({ seq, call_id: callId, version, ends: ends ? 1 : 0, events, checksum: 0 });
  };

  function putMessage({ message, position, replay }: PutMessage): WriteStep[] {
    const row = toMessageRow(message, position, replay);
    const uses = blobIdsIn([row.parts]).map((blob_id) =>
      write.blobUse({ blob_id, user_id: row.message_id }),
    );
    return [write.message(row), ...uses];
  }

  function putClient(client: ClientRecord): WriteStep[] {
    const put = write.client(clientRows.to(client));
    const isTimeToForget = clientPuts % FORGET_EVERY === 0;
    clientPuts += 1;
    return isTimeToForget ? [put, deletions.clients(KEPT_CLIENTS)] : [put];
  }

  function toSteps(change: OtherChange): WriteStep[] {
    switch (change.type) {
      case 'put_idempotency':
        return [write.idempotency(idempotencyRows.to(change.entry))];
      case 'put_run':
        return [write.run(runRows.to(change.run))];
      case 'put_message':
        return putMessage(change);
      case 'put_model_turn':
        return [write.modelTurn(modelTurnRows.to(change.turn))];
      case 'put_client':
        return putClient(change.client);
      case 'put_session':
        return [write.session(sessionRows.to(change.session))];
      case 'renew_session': {
        const { id_hash, ...columns } = sessionRows.to(change.session);
        return [write.sessionRenewal({ ...columns, id_hash })];
      }
      case 'delete_session':
        return [deletions.of('sessions', { id_hash: change.idHash })];
      case 'put_token':
        return [write.token(tokenRows.to(change.token))];
      case 'delete_token':
        return [
          deletions.of('tokens', { id: change.id }),
          deletions.of('memories', { owner: change.id }),
        ];
      case 'delete_sessions_of':
        return [deletions.of('sessions', { token_id: change.tokenId })];
      case 'append_audit':
        return [write.audit(auditRows.to(change.entry))];
      case 'delete_audit':
        return [deletions.audit(change.before)];
      case 'put_kept':
        return [write.kept(keptRows.to(change.entry))];
      case 'delete_kept':
        return [deletions.of('kept', { area: change.area, key: change.key })];
      case 'put_delivery':
        return [write.delivery(deliveryRows.to(change.delivery))];
      case 'delete_deliveries':
        return deletions.deliveries(change);
      case 'put_memory':
        return [write.memory(toMemoryRow(change.memory))];
      case 'delete_memory':
        return [deletions.of('memories', { owner: change.ownerToken ?? '', key: change.key })];
      // A run that has calls, also on their way to the disk, stays.
      case 'delete_run':
        return overlay.hasRun(change.runId) ? [] : deletions.run(change);
    }
  }

  return {
    prepare(changes) {
      const calls = overlay.beginWrite();
      const others: WriteStep[] = [];
      for (const change of changes) {
        if (change.type === 'append_call') calls.append(change.call, change.event);
        else if (change.type !== 'delete_calls') others.push(...toSteps(change));
        else {
          const ids = change.ids.filter((id) => calls.delete(id));
          // The newest rows of the log may be among them, and no place is taken twice.
          others.push(...deletions.calls({ ...change, ids }), placed(overlay.takePosition()));
        }
      }
      calls.keep(); // Only now: a change that threw leaves no trace of the others.
      const position = calls.rows.at(-1)?.seq ?? overlay.takePosition();
      return { calls, others, position };
    },
    toSteps(writes) {
      const rows = joinRows(writes);
      const others = writes.flatMap((one) => one.others);
      const newest = rows.at(-1);
      if (newest) return { steps: [...rows.map(putRow), ...others], position: newest.seq };
      const position = writes.at(-1)?.position ?? 0;
      return { steps: [...others, placed(position)], position };
    },
  };
}

/** Events of one call that are written at once share a row, in the place of the first. */
function joinRows(writes: readonly PreparedWrite[]): NewLogRow[] {
  const rows = new Map<string, NewLogRow>();
  for (const { calls } of writes) {
    for (const row of calls.rows) {
      const first = rows.get(row.callId);
      if (!first) rows.set(row.callId, row);
      else {
        first.texts.push(...row.texts);
        first.ends = row.ends;
      }
    }
  }
  return [...rows.values()];
}

/** Every checksum in a row is 0 here; the thread that writes puts the true one in its place. */
function createPuts(thread: Pick<WriteThread, 'prepare'>, kysely: Kysely<Tables>) {
  const put = <T extends GuardedTable>(table: T) =>
    preparedWrite(thread, (row: Tables[T]) => upsert(kysely, table, row), GUARDS[table].guards);
  /** A row that is there stays as it is. */
  const add = <T extends keyof Tables>(table: T, guards: readonly Guard[] = []) =>
    preparedWrite(
      thread,
      // The cast is that of `upsert`.
      (row: Tables[T]) =>
        kysely
          .insertInto(table)
          .values(row as never)
          .onConflict((conflict) => conflict.doNothing()),
      guards,
    );
  /** A version that is there already is another writer's: the commit fails. */
  const insertEvents = (row: Tables['log']) => {
    // guard: log-row-inserted
    return kysely.insertInto('log').values(row);
  };
  return {
    log: preparedWrite(thread, insertEvents, GUARDS.log.guards),
    position: preparedWrite(thread, ({ value, key }: Tables['meta']) =>
      kysely.updateTable('meta').set({ value }).where('key', '=', key),
    ),
    /** The first entry of a scope stays: a key means one call for ever. */
    idempotency: add('idempotency', GUARDS.idempotency.guards),
    blobUse: add('blob_uses'),
    run: put('runs'),
    message: put('messages'),
    modelTurn: put('model_turns'),
    client: put('clients'),
    session: put('sessions'),
    sessionRenewal: preparedWrite(
      thread,
      ({ id_hash, ...columns }: Tables['sessions']) =>
        kysely.updateTable('sessions').set(columns).where('id_hash', '=', id_hash),
      GUARDS.sessions.guards,
    ),
    token: put('tokens'),
    audit: put('audit'),
    delivery: put('deliveries'),
    memory: put('memories'),
    kept: put('kept'),
  };
}

/**
 * An insert that replaces all other columns of a row with the same key. Kysely
 * types such a query for a table it knows, not for one that is a parameter: the
 * casts stand for what the signature has checked.
 */
function upsert<T extends GuardedTable>(
  kysely: Kysely<Tables>,
  table: T,
  row: Tables[T],
): Compilable {
  const { key } = GUARDS[table];
  const others = Object.keys(row).filter((column) => !key.some((part) => part === column));
  const excluded = (eb: ExpressionBuilder<Tables, never>) =>
    Object.fromEntries(others.map((column) => [column, eb.ref(`excluded.${column}` as never)]));
  return kysely
    .insertInto(table)
    .values(row as never)
    .onConflict((conflict) => conflict.columns(key as never).doUpdateSet(excluded as never));
}
