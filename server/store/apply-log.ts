import type { DatabaseSync } from 'node:sqlite';
import { isFinalStatus } from '#lib/protocol/is-final-status';
import { blobIdsIn } from './blob-ids.ts';
import { toCallRow, toLoggedCall } from './call-table.ts';
import { fromLogRow } from './log-text.ts';
import { searchWords } from './search-words.ts';
import { RowDamagedError } from './store-errors.ts';
import type { CallRow, LogRow } from './tables.ts';

/** How far what follows from the log is made. */
export interface Applied {
  /** The place in the log. */
  readonly upTo: number;
  readonly more: boolean;
}

/** A batch has a commit and a part of the index of its own; a commit that comes meanwhile waits for some 10 ms. */
const BATCH_CALLS = 250;
const BATCH_BYTES = 1024 * 1024;
/** Rows that are looked at for one batch. */
const BATCH_ROWS = 2_000;

type LogValues = [number, string, number, LogRow['ends'], string, number];

/** Some rows of the log, by call. */
interface Batch {
  readonly upTo: number;
  readonly more: boolean;
  readonly rows: ReadonlyMap<string, readonly LogRow[]>;
}

/**
 * Makes what follows from the log, some of it each time, in a transaction: the row of a call that has
 * ended, its words for the search, the blobs that it names; and which calls are open. All of it can
 * be lost and made again. Run on the thread that writes, and before a store is opened.
 */
export function createLogApplier(database: DatabaseSync): () => Applied {
  const applied = database.prepare("SELECT value FROM meta WHERE key = 'applied'");
  const looked = database.prepare(`SELECT seq, call_id, version, ends, events, checksum FROM log
    WHERE seq > ? ORDER BY seq LIMIT ${BATCH_ROWS}`);
  // The objects that SQLite's rows come as are slow to make and slow to read.
  looked.setReturnArrays(true);
  // All of a call is read once it has ended.
  const size = database.prepare(
    'SELECT sum(octet_length(events)) AS bytes FROM log WHERE call_id = ?',
  );
  const write = createApplyStatements(database);
  const sizeOf = (id: string) => Number(size.get(id)?.bytes ?? 0);

  function take(after: number): Batch {
    const rows = new Map<string, LogRow[]>();
    let [upTo, bytes, count, ended] = [after, 0, 0, 0];
    for (const row of looked.iterate(after) as Iterable<unknown>) {
      // The edge to SQL.
      const [seq, call_id, version, ends, events, checksum] = row as LogValues;
      const one: LogRow = { seq, call_id, version, ends, events, checksum };
      const known = rows.get(call_id);
      if (known) known.push(one);
      else rows.set(call_id, [one]);
      upTo = seq;
      count += 1;
      ended += ends;
      bytes += ends && !known && !isFirst(one) ? sizeOf(call_id) : events.length;
      if (ended >= BATCH_CALLS || bytes > BATCH_BYTES) return { upTo, more: true, rows };
    }
    return { upTo, more: count === BATCH_ROWS, rows };
  }

  return () => {
    const after = Number(applied.get()?.value ?? 0);
    const batch = take(after);
    if (batch.upTo === after) return { upTo: after, more: false };
    // guard: applied-with-its-position
    database.exec('BEGIN IMMEDIATE');
    try {
      // fault point: indexing
      for (const [id, rows] of batch.rows) {
        if (rows.at(-1)?.ends) write.ended(id, after, rows);
        else {
          // guard: open-calls-noted
          write.open(id);
        }
      }
      write.position(batch.upTo);
      database.exec('COMMIT');
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
    return { upTo: batch.upTo, more: batch.more };
  };
}

/** Then there are no rows of its call before it. */
const isFirst = (row: LogRow | undefined) => row?.version === 1;

export function createApplyStatements(database: DatabaseSync) {
  const rows = database.prepare('SELECT * FROM log WHERE call_id = ? ORDER BY version');
  const remove = database.prepare('DELETE FROM calls WHERE call_no = ?');
  const name = database.prepare('SELECT name FROM clients WHERE client_id = ? LIMIT 1');
  const removeWords = database.prepare('DELETE FROM tool_call_text WHERE rowid = ?');
  const putWords = database.prepare(`INSERT INTO tool_call_text
    (rowid, tool_name, args, result, error) VALUES (?, ?, ?, ?, ?)`);
  const use = database.prepare('INSERT OR IGNORE INTO blob_uses (blob_id, user_id) VALUES (?, ?)');
  const position = database.prepare("UPDATE meta SET value = ? WHERE key = 'applied'");
  const open = database.prepare('INSERT OR IGNORE INTO open_calls (call_id) VALUES (?)');
  const close = database.prepare('DELETE FROM open_calls WHERE call_id = ?');
  const nameOf = (id: string | null) => (id === null ? undefined : name.get(id)?.name);
  let put: ReturnType<DatabaseSync['prepare']> | undefined;

  function list(row: CallRow): void {
    put ??= database.prepare(
      `INSERT INTO calls (${Object.keys(row)}) VALUES (${Object.keys(row).map(() => '?')})`,
    );
    put.run(...Object.values(row));
  }

  /** `after`: what is applied already; `newest`: the last rows of the call, or all. */
  function ended(id: string, after: number, newest: readonly LogRow[] = []): void {
    const logged = readLogged(
      isFirst(newest[0]) ? newest : (rows.all(id) as unknown as LogRow[]), // The edge to SQL.
    );
    // One that was deleted meanwhile, or begins with what is not there, is in no list.
    if (!logged || !isFinalStatus(logged.call.status)) return;
    const { call, facts, seq, texts } = logged;
    const row = toCallRow(seq, logged);
    // Something was made of a call that began before. REPLACE would take it away, too, but before
    // each such statement the text index writes what it gathers.
    if (seq <= after) {
      remove.run(seq);
      removeWords.run(seq);
      close.run(id);
    }
    list(row);
    // The name is taken from the log: the client may have another by now.
    const client = facts.client_name ?? nameOf(row.client_id);
    putWords.run(
      row.call_no,
      searchWords([call.toolName, client]),
      searchWords(call.args),
      `${words(call.result)} ${words(call.lateResult)}`,
      words(call.error ?? undefined),
    );
    for (const blobId of blobIdsIn(texts)) use.run(blobId, id);
  }

  return {
    ended,
    list,
    open: (id: string) => void open.run(id),
    position: (upTo: number) => void position.run(upTo),
  };
}

/** A damaged row, which is told elsewhere, costs its own call alone: undefined is returned. */
function readLogged(rows: readonly LogRow[]) {
  const [first] = rows;
  if (!first) return undefined;
  const texts = rows.map(({ events }) => events);
  const bytes = texts.reduce((sum, text) => sum + text.length, 0);
  try {
    return { ...toLoggedCall(rows.flatMap(fromLogRow), bytes), seq: first.seq, texts };
  } catch (error) {
    if (error instanceof RowDamagedError) return undefined;
    throw error;
  }
}

const words = (value: unknown): string => (value === undefined ? '' : searchWords(value));
