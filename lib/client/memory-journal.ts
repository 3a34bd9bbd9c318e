import { JOURNAL_BYTES, type Journal } from './journal.ts';
import { JournalEntries } from './journal-entries.ts';

/** A journal that ends with its program: for clients without disk, and for tests. */
export function createMemoryJournal({
  epoch,
  maxBytes = JOURNAL_BYTES,
}: {
  epoch: string;
  maxBytes?: number;
}): Journal {
  const entries = new JournalEntries(maxBytes);
  return {
    epoch,
    entries: async () => entries.list(),
    async put(entry) {
      entries.put(entry);
    },
    async delete(id) {
      entries.delete(id);
    },
    close() {},
  };
}
