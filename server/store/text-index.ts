import type { DatabaseSync } from 'node:sqlite';
import { fromJsonColumn } from './json-column.ts';
import { searchWords } from './search-words.ts';

/**
 * The words of final calls, for the search over the history. Writing words is
 * several times dearer than writing the call, so it is not done with the write:
 * a final call is noted in `calls_to_index` by the same transaction, and its
 * words follow when the store is idle, or at the latest before a search. An open
 * call is not found by its words.
 */
export interface TextIndex {
  /** Indexes what waits, in small steps between which others have their turn. */
  catchUp(): Promise<void>;
  /** Something was written: there may be work for an idle moment. */
  touched(): void;
  close(): void;
}

/** One batch holds the process for some 10 ms at most. */
const BATCH_CALLS = 100;
const BATCH_CHARS = 1024 * 1024;

interface Waiting {
  readonly call_id: string;
  readonly row_no: number;
  readonly tool_name: string;
  readonly args: string;
  readonly result: string | null;
  readonly late_result: string | null;
  readonly error: string | null;
}

export function createTextIndex(deps: {
  database: DatabaseSync;
  schedule(next: () => void): void;
  /** Calls back at some later, idle time; returns its undo. */
  scheduleIdle(work: () => void): () => void;
}): TextIndex {
  const indexBatch = createBatchIndexer(deps.database);
  let wasTouched = false;
  let closed = false;
  let cancelIdle: (() => void) | undefined;

  function arm(): void {
    if (!closed) cancelIdle ??= deps.scheduleIdle(onIdle);
  }

  function onIdle(): void {
    cancelIdle = undefined;
    if (wasTouched) {
      wasTouched = false; // Written to since: not idle yet.
      arm();
      return;
    }
    // When it fails there is nobody to tell here: the next search does the same work, and tells.
    if (attempt(indexBatch)) arm();
  }

  return {
    async catchUp() {
      while (!closed && indexBatch()) await new Promise<void>(deps.schedule);
    },
    touched() {
      wasTouched = true;
      arm();
    },
    close() {
      closed = true;
      cancelIdle?.();
    },
  };
}

function attempt(work: () => boolean): boolean {
  try {
    return work();
  } catch {
    return false;
  }
}

/** Indexes some of what waits; true when there is more. FTS5 is beyond Kysely, hence the SQL. */
function createBatchIndexer(database: DatabaseSync): () => boolean {
  const waiting = database.prepare(`
    SELECT call_id, row_no, tool_name, args, result, late_result, error
    FROM calls_to_index CROSS JOIN tool_calls ON id = call_id LIMIT ${BATCH_CALLS + 1}`);
  const insert = database.prepare(`
    INSERT OR REPLACE INTO tool_call_text (rowid, tool_name, args, result, error)
    VALUES (?, ?, ?, ?, ?)`);
  const done = database.prepare('DELETE FROM calls_to_index WHERE call_id = ?');

  function take(): { batch: Waiting[]; more: boolean } {
    const batch: Waiting[] = [];
    let chars = 0;
    for (const row of waiting.iterate() as Iterable<Waiting>) {
      if (batch.length === BATCH_CALLS || chars > BATCH_CHARS) return { batch, more: true };
      batch.push(row);
      chars += row.args.length + (row.result?.length ?? 0) + (row.late_result?.length ?? 0);
    }
    return { batch, more: false };
  }

  return () => {
    const { batch, more } = take();
    if (batch.length === 0) return false;
    database.exec('BEGIN IMMEDIATE');
    try {
      for (const row of batch) {
        const results = `${words(row.result)} ${words(row.late_result)}`;
        const name = searchWords(row.tool_name);
        insert.run(row.row_no, name, words(row.args), results, words(row.error));
        done.run(row.call_id);
      }
      database.exec('COMMIT');
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
    return more;
  };
}

const words = (json: string | null): string =>
  json === null ? '' : searchWords(fromJsonColumn(json));
