/** A stored entry without its content. */
export interface StoredSize {
  readonly id: string;
  readonly bytes: number;
  /** A repeatable answer: the call can be run again, so it may go. */
  readonly droppable: boolean;
}

/**
 * The entries to drop so that the rest fits, oldest first (CL17). Those of
 * tools with effects stay even when that is too much: nothing could replace them.
 */
export function journalOverflow(oldestFirst: readonly StoredSize[], maxBytes: number): string[] {
  let excess = oldestFirst.reduce((sum, { bytes }) => sum + bytes, -maxBytes);
  const dropped: string[] = [];
  for (const { id, bytes, droppable } of oldestFirst) {
    if (excess <= 0) break;
    if (!droppable) continue;
    dropped.push(id);
    excess -= bytes;
  }
  return dropped;
}

/** An entry's size as it counts for the cap: about the bytes that its text takes. */
export const storedBytes = (entry: unknown): number => JSON.stringify(entry).length;
