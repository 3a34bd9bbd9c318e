import { describe, expect, test } from 'vitest';
import type { Journal, JournalEntry } from './journal.ts';

/** An entry, `repeatable` and answered as told; `bytes` makes it about that large. */
export function journalEntry(
  id: string,
  { repeatable = false, output = null as string | null, attempt = 1 } = {},
): JournalEntry {
  const answer =
    output === null
      ? null
      : { type: 'tool_result' as const, id, attempt, success: true as const, output };
  return { id, attempt, tool: 'door.open', repeatable, answer };
}

/** What every journal does; `open` opens one that is empty, with room for `maxBytes`. */
export function describeJournal(
  name: string,
  open: (options: { maxBytes: number }) => Promise<Journal>,
): void {
  const ids = async (journal: Journal) => (await journal.entries()).map(({ id }) => id);

  describe(name, () => {
    test('[CL7] gives back what was put, in the order of the last put', async () => {
      const journal = await open({ maxBytes: 10_000 });
      await journal.put(journalEntry('a'));
      await journal.put(journalEntry('b'));
      await journal.put(journalEntry('a', { output: 'open' }));
      expect(await journal.entries()).toEqual([
        journalEntry('b'),
        journalEntry('a', { output: 'open' }),
      ]);
    });

    test('[CL7] forgets what was deleted, and minds no unknown id', async () => {
      const journal = await open({ maxBytes: 10_000 });
      await journal.put(journalEntry('a'));
      await journal.delete('a');
      await journal.delete('b');
      expect(await ids(journal)).toEqual([]);
    });

    test('[CL17] over its cap it drops the oldest answers that may be repeated', async () => {
      const journal = await open({ maxBytes: 3_000 });
      const output = 'x'.repeat(1_000);
      await journal.put(journalEntry('effect', { output }));
      await journal.put(journalEntry('read 1', { output, repeatable: true }));
      await journal.put(journalEntry('read 2', { output, repeatable: true }));
      await journal.put(journalEntry('started', { repeatable: true }));
      expect(await ids(journal)).toEqual(['effect', 'read 2', 'started']);
    });

    test('[CL17] it keeps what is not repeatable even over its cap', async () => {
      const journal = await open({ maxBytes: 1_000 });
      const output = 'x'.repeat(900);
      await journal.put(journalEntry('a', { output }));
      await journal.put(journalEntry('b', { output }));
      expect(await ids(journal)).toEqual(['a', 'b']);
    });
  });
}
