import type { DatabaseSync } from 'node:sqlite';
import { blobIdsIn, COLUMNS_WITH_BLOBS } from './blob-ids.ts';
import { fromJsonColumn } from './json-column.ts';
import { searchWords } from './search-words.ts';

/** A batch has a commit and a part of the index of its own; a commit that comes meanwhile waits for some 10 ms. */
const BATCH_CALLS = 250;
const BATCH_CHARS = 512 * 1024;

interface Waiting extends Record<(typeof COLUMNS_WITH_BLOBS)[number], string | null> {
  readonly call_id: string;
  readonly row_no: number;
  readonly tool_name: string;
  readonly args: string;
  readonly client_name: string | null;
}

/** Indexes the words of some calls that wait for it, and notes the blobs that they name; true when there are more. */
export function createWordIndexer(database: DatabaseSync): () => boolean {
  // FTS5 is beyond Kysely, hence the SQL.
  const waiting = database.prepare(`
    SELECT call_id, row_no, tool_name, ${COLUMNS_WITH_BLOBS.join(', ')},
      (SELECT name FROM clients
        WHERE clients.client_id = coalesce(tool_calls.client_id, wanted_client_id) LIMIT 1) AS client_name
    FROM calls_to_index CROSS JOIN tool_calls ON id = call_id ORDER BY call_id LIMIT ${BATCH_CALLS}`);
  const insert = database.prepare(`
    INSERT OR REPLACE INTO tool_call_text (rowid, tool_name, args, result, error)
    VALUES (?, ?, ?, ?, ?)`);
  const use = database.prepare('INSERT OR IGNORE INTO blob_uses (blob_id, user_id) VALUES (?, ?)');
  // All that stand up to the last one of a batch are in it.
  const done = database.prepare('DELETE FROM calls_to_index WHERE call_id <= ?');

  function take(): { batch: Waiting[]; more: boolean } {
    const batch: Waiting[] = [];
    let chars = 0;
    for (const row of waiting.iterate() as Iterable<Waiting>) {
      batch.push(row);
      chars += row.args.length + (row.result?.length ?? 0) + (row.late_result?.length ?? 0);
      // Before the next one is read, which may be as large.
      if (batch.length === BATCH_CALLS || chars > BATCH_CHARS) return { batch, more: true };
    }
    return { batch, more: false };
  }

  return () => {
    const { batch, more } = take();
    const last = batch.at(-1);
    if (!last) return false;
    // guard: noted-until-indexed
    database.exec('BEGIN IMMEDIATE');
    try {
      // fault point: indexing
      for (const row of batch) {
        const results = `${words(row.result)} ${words(row.late_result)}`;
        const name = searchWords([row.tool_name, row.client_name]);
        insert.run(row.row_no, name, words(row.args), results, words(row.error));
        const texts = COLUMNS_WITH_BLOBS.map((column) => row[column]);
        for (const blobId of blobIdsIn(texts)) use.run(blobId, row.call_id);
      }
      done.run(last.call_id);
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
