import type { JournalEntry } from './journal.ts';
import { journalOverflow, storedBytes } from './journal-overflow.ts';

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
    const sizes = [...this.#stored].map(([id, { entry, bytes }]) => ({
      id,
      bytes,
      droppable: entry.repeatable && entry.answer !== null,
    }));
    for (const id of journalOverflow(sizes, this.#maxBytes)) this.delete(id);
  }
}
