import { blobIdsIn } from './blob-ids.ts';
import type { CallOverlay, NewLogRow } from './call-overlay.ts';
import type { SqlValue } from './compile-query.ts';
import { createDeletions } from './deletions.ts';
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
import { GUARDS, type Guard } from './row-checksum.ts';
import type { Change, ClientRecord } from './store.ts';
import type { Tables } from './tables.ts';
import type { Sum, WriteStep, WriteThread } from './write-thread.ts';

type PutMessage = Extract<Change, { type: 'put_message' }>;

/** A write in the form of its columns. */
export interface PreparedWrite {
  /** Its `settle` is called once it is committed. */
  readonly calls: ReturnType<CallOverlay['beginWrite']>;
  readonly others: readonly WriteStep[];
  /** The place in the log that it takes; a write without an event takes one, too. */
  readonly position: number;
}

/** Each tab that was ever open is an instance; of one owner those seen last are remembered. */
const KEPT_CLIENTS = 10_000;
/** At the first put, and after so many more: forgetting reads all of them. */
const FORGET_EVERY = 1_000;

type OtherChange = Exclude<Change, { readonly type: 'append_call' | 'delete_calls' }>;

/** How each change is written; when is decided elsewhere. */
export function createChangeWriter(thread: Pick<WriteThread, 'prepare'>, overlay: CallOverlay) {
  const write = createPuts(thread);
  const deletions = createDeletions(thread);
  let clientPuts = 0;
  const placed = (value: number): WriteStep => write.position({ key: 'commits', value });

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
      case 'renew_session':
        return [write.sessionRenewal(sessionRows.to(change.session))];
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
    /**
     * A value that cannot be written throws here, before anything is begun, and so
     * does an event that does not follow (`VersionConflictError`).
     */
    prepare(changes: readonly Change[]): PreparedWrite {
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
    /** The steps of one transaction: events of one call are one row. `position` is what it takes the log to. */
    toSteps(writes: readonly PreparedWrite[]): { steps: WriteStep[]; position: number } {
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

/** A version that is there already is another writer's: the commit fails. */
const insertEvents: typeof insert = (table, columns) => {
  // guard: log-row-inserted
  return insert(table, columns);
};

const createPuts = (thread: Pick<WriteThread, 'prepare'>) => ({
  log: rowSteps(thread, 'log', insertEvents),
  position: rowSteps(thread, 'meta', () => 'UPDATE meta SET value = ?2 WHERE key = ?1'),
  /** The first entry of a scope stays: a key means one call for ever. */
  idempotency: rowSteps(thread, 'idempotency', add),
  blobUse: rowSteps(thread, 'blob_uses', add),
  run: rowSteps(thread, 'runs', put),
  message: rowSteps(thread, 'messages', put),
  modelTurn: rowSteps(thread, 'model_turns', put),
  client: rowSteps(thread, 'clients', put),
  session: rowSteps(thread, 'sessions', put),
  sessionRenewal: rowSteps(thread, 'sessions', renew),
  token: rowSteps(thread, 'tokens', put),
  audit: rowSteps(thread, 'audit', put),
  delivery: rowSteps(thread, 'deliveries', put),
  memory: rowSteps(thread, 'memories', put),
  kept: rowSteps(thread, 'kept', put),
});

/** The statement that brings a row with these columns into the table, with a place for each of them. */
type ToSql = (table: keyof Tables, columns: readonly string[]) => string;

export const insert: ToSql = (table, columns) =>
  `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;

/** A row that is there stays as it is. */
const add: ToSql = (table, columns) => `${insert(table, columns)} ON CONFLICT DO NOTHING`;

/** In the place of a row with the same key. */
const put: ToSql = (table, columns) => {
  const key = keyOf(table);
  const others = columns.filter((column) => !key.includes(column));
  const changes = others.map((column) => `${column} = excluded.${column}`);
  return `${insert(table, columns)} ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${changes.join(', ')}`;
};

/** Only where a row with the same key is there. */
const renew: ToSql = (table, columns) => {
  const set = columns.map((column, place) => `${column} = ?${place + 1}`);
  const meets = keyOf(table).map((column) => `${column} = ?${columns.indexOf(column) + 1}`);
  return `UPDATE ${table} SET ${set.join(', ')} WHERE ${meets.join(' AND ')}`;
};

interface Guarded {
  readonly key: readonly string[];
  readonly guards: readonly Guard[];
}

const guardsOf = (table: keyof Tables): Guarded | undefined =>
  (GUARDS as Partial<Record<keyof Tables, Guarded>>)[table];

const keyOf = (table: keyof Tables): readonly string[] => guardsOf(table)?.key ?? [];

/**
 * Makes the rows of a table into steps of a transaction; each has the columns of the first, in their
 * order. Nothing is written until a step is committed. Every checksum is 0 here: the thread that
 * writes puts the true one in its place.
 */
function rowSteps<Table extends keyof Tables>(
  thread: Pick<WriteThread, 'prepare'>,
  table: Table,
  toSql: ToSql,
): (row: Tables[Table]) => WriteStep {
  let statement: number | undefined;
  return (row) => {
    if (statement === undefined) {
      const columns = Object.keys(row);
      const sums = toSums(guardsOf(table)?.guards ?? [], columns);
      statement = thread.prepare(toSql(table, columns), sums);
    }
    return [statement, Object.values(row) as SqlValue[]]; // The edge to SQL.
  };
}

function toSums(guards: readonly Guard[], columns: readonly string[]): Sum[] {
  const placeOf = (column: string) => {
    const place = columns.indexOf(column);
    if (place < 0) throw new Error(`the row has no ${column}, which its checksum needs`);
    return place;
  };
  return guards.map(({ sum, of }) => ({ at: placeOf(sum), of: of.map(placeOf) }));
}
