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
const JOURNAL_BYTES = 50 * 1024 * 1024;

/** One change of a journal; it is on disk whole, or not at all. */
export interface JournalChange {
  readonly put?: JournalEntry;
  readonly deleted: readonly string[];
}

/** A journal's disk. */
export interface JournalDisk {
  readonly epoch: string;
  /** It had these when it was opened, in the order in which they were put last. */
  readonly entries: readonly JournalEntry[];
  /** Resolves once the change is on disk, and rejects when it cannot be. */
  write(change: JournalChange): Promise<void>;
  close(): void;
}

interface Stored {
  readonly entry: JournalEntry;
  /** Its text has about so many. */
  readonly bytes: number;
}

/** A journal of that disk, within its cap (CL17). */
export function createJournal(disk: JournalDisk, maxBytes = JOURNAL_BYTES): Journal {
  const stored = new Map<string, Stored>();
  let bytes = 0;

  const remove = (id: string) => {
    bytes -= stored.get(id)?.bytes ?? 0;
    stored.delete(id);
  };
  const add = (entry: JournalEntry) => {
    remove(entry.id);
    const size = JSON.stringify(entry).length;
    stored.set(entry.id, { entry, bytes: size });
    bytes += size;
  };
  /**
   * Drops the oldest answers of tools that may be repeated until the rest fits. Those of tools with
   * effects stay even when that is too much: nothing could replace them.
   */
  const dropOverflow = (): string[] => {
    const dropped: string[] = [];
    for (const [id, { entry }] of bytes > maxBytes ? stored : []) {
      if (bytes <= maxBytes) break;
      if (!entry.repeatable || entry.answer === null) continue;
      dropped.push(id);
      remove(id);
    }
    return dropped;
  };

  for (const entry of disk.entries) add(entry);
  return {
    epoch: disk.epoch,
    entries: async () => [...stored.values()].map(({ entry }) => entry),
    put(entry) {
      add(entry);
      return disk.write({ put: entry, deleted: dropOverflow() });
    },
    delete(id) {
      remove(id);
      return disk.write({ deleted: [id] });
    },
    close: () => disk.close(),
  };
}

/** A journal that ends with its program: for clients without disk, and for tests. */
export const createMemoryJournal = ({
  epoch,
  maxBytes,
}: {
  epoch: string;
  maxBytes?: number;
}): Journal => createJournal({ epoch, entries: [], write: async () => {}, close() {} }, maxBytes);
