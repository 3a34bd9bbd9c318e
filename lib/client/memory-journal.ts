import { JOURNAL_BYTES, type Journal, type JournalEntry } from './journal.ts';
import { journalOverflow, storedBytes } from './journal-overflow.ts';

/** A journal that ends with its program: for clients without disk, and for tests. */
export function createMemoryJournal({
  epoch,
  maxBytes = JOURNAL_BYTES,
}: {
  epoch: string;
  maxBytes?: number;
}): Journal {
  // A Map keeps the order of insertion, which is the order of the last put here.
  const entries = new Map<string, { entry: JournalEntry; bytes: number }>();

  return {
    epoch,
    entries: async () => [...entries.values()].map(({ entry }) => entry),
    async put(entry) {
      entries.delete(entry.id);
      entries.set(entry.id, { entry, bytes: storedBytes(entry) });
      const sizes = [...entries.values()].map((stored) => ({
        id: stored.entry.id,
        bytes: stored.bytes,
        droppable: stored.entry.repeatable && stored.entry.answer !== null,
      }));
      for (const id of journalOverflow(sizes, maxBytes)) entries.delete(id);
    },
    async delete(id) {
      entries.delete(id);
    },
    close() {},
  };
}
