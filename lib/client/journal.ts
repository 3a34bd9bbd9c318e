import type { ClientMessageOf } from '../protocol/client-messages.ts';

/** Either of them ends a call from this side. */
export type CallAnswer = ClientMessageOf<'tool_result'> | ClientMessageOf<'tool_error'>;

/** A call that was granted here and is not yet acknowledged. */
export interface JournalEntry {
  readonly id: string;
  readonly attempt: number;
  readonly tool: string;
  /** True when running it twice does no harm: it may then be forgotten rather than kept. */
  readonly repeatable: boolean;
  /** The answer once there is one; until then the tool has started and nothing more is known. */
  readonly answer: CallAnswer | null;
}

/**
 * A client instance's memory of its calls, written before the tool runs and
 * before its answer is sent, so that no call runs twice and no answer is lost.
 * It has no part in sockets. One instance has one journal, and no other instance uses it.
 *
 * `put` and `delete` resolve once they are on disk and reject when they cannot be.
 */
export interface Journal {
  /** Random, made with the store: another epoch means that earlier entries are lost. */
  readonly epoch: string;
  /** In the order in which they were put last. */
  entries(): Promise<JournalEntry[]>;
  /** Adds, or replaces the entry of that id. May drop the oldest repeatable answers for room. */
  put(entry: JournalEntry): Promise<void>;
  delete(id: string): Promise<void>;
  close(): void;
}

/** Bytes that a journal holds before it drops the oldest repeatable answers. */
export const JOURNAL_BYTES = 50 * 1024 * 1024;

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

export const toSize = ({
  entry: { id, repeatable, answer },
  bytes,
}: {
  readonly entry: JournalEntry;
  readonly bytes: number;
}): StoredSize => ({ id, bytes, droppable: repeatable && answer !== null });

/** The entries of a journal in memory, in the order of the last put, within its cap (CL17). */
export class JournalEntries {
  readonly #maxBytes: number;
  readonly #stored = new Map<string, { entry: JournalEntry; bytes: number }>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  list(): JournalEntry[] {
    return [...this.#stored.values()].map(({ entry }) => entry);
  }

  put(entry: JournalEntry): void {
    this.delete(entry.id);
    const bytes = storedBytes(entry);
    this.#stored.set(entry.id, { entry, bytes });
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes) this.#dropOverflow();
  }

  delete(id: string): void {
    this.#bytes -= this.#stored.get(id)?.bytes ?? 0;
    this.#stored.delete(id);
  }

  #dropOverflow(): void {
    const sizes = [...this.#stored.values()].map(toSize);
    for (const id of journalOverflow(sizes, this.#maxBytes)) this.delete(id);
  }
}
