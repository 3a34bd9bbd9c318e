import type { DatabaseSync } from 'node:sqlite';

const BLOB_ID = /blob_[0-9a-f]{40}/g;

/** The ids of blobs that texts mention, each once, wherever they stand. */
export function blobIdsIn(texts: readonly (string | null)[]): string[] {
  const ids = new Set<string>();
  for (const text of texts) {
    if (!text?.includes('blob_')) continue;
    for (const [id] of text.matchAll(BLOB_ID)) ids.add(id);
  }
  return [...ids];
}

/** Lets SQL have them, as JSON: of rows that were there before their blobs were noted. */
export function defineBlobIds(database: DatabaseSync): void {
  const options = { deterministic: true, varargs: true };
  database.function('blob_ids', options, (...texts) =>
    JSON.stringify(blobIdsIn(texts.map((text) => (typeof text === 'string' ? text : null)))),
  );
}

/** The columns of a call in which blobs are named. */
const COLUMNS_WITH_BLOBS = [
  ...['args', 'result', 'late_result', 'attachments', 'display', 'preview', 'error'],
] as const;

export const NOTE_BLOBS_OF_MESSAGES = `
INSERT OR IGNORE INTO blob_uses (blob_id, user_id)
  SELECT value, message_id FROM messages, json_each(blob_ids(parts));
`;

/** The blobs of final calls follow with their words. */
export const FILL_BLOB_USES = `
INSERT OR IGNORE INTO calls_to_index (call_id)
  SELECT id FROM tool_calls WHERE status NOT IN ('PENDING', 'RUNNING')
    AND blob_ids(${COLUMNS_WITH_BLOBS.join(', ')}) <> '[]';${NOTE_BLOBS_OF_MESSAGES}`;
