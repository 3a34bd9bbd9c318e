import { Buffer } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { JOURNAL_BYTES, type Journal, type JournalEntry } from '../journal.ts';
import { journalOverflow, storedBytes } from '../journal-overflow.ts';
import { openJournalFile, replaceJournalFile } from './journal-file.ts';
import {
  type JournalRecord,
  type JournalText,
  readJournalText,
  toJournalLine,
} from './journal-line.ts';

/** A journal on a program's disk. Whoever opens it must be the only one; `lockDataDir` sees to that. */
export interface FileJournal extends Journal {
  /** Resolves once `close` was called and all that was put before is on disk. */
  readonly closed: Promise<void>;
}

export interface FileJournalOptions {
  readonly path: string;
  /** For the epoch of a new or damaged file. */
  newId(): string;
  readonly maxBytes?: number;
  onProblem(message: string): void;
}

/** A file is rewritten when more than this much of it is out of date, and more than half. */
const WASTE_BYTES = 1024 * 1024;

interface Waiting {
  readonly record: JournalRecord;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * A journal in one file that only grows: a line for each change, on disk
 * before the change counts. Changes that come while the disk is busy share the
 * next write. Damage gives the journal a new epoch, for a start that cannot be
 * read any more must not pass for a start that never was (CL23).
 */
export async function openFileJournal(options: FileJournalOptions): Promise<FileJournal> {
  const { path, maxBytes = JOURNAL_BYTES } = options;
  const bytes = await readIfThere(path);
  const text = readJournalText(bytes);
  const entries = createEntries(maxBytes);
  for (const record of text.records) entries.apply(record);
  const kept = text.records.find((record) => 'epoch' in record)?.epoch;
  const isWhole = kept !== undefined && text.damaged.length === 0;
  report(options, bytes, text);
  const epoch = isWhole ? kept : options.newId();

  const rewritten = () =>
    replaceJournalFile(path, Buffer.concat(entries.records(epoch).map(toJournalLine)));
  let file = isWhole
    ? await openJournalFile(path, bytes.length - text.tornBytes)
    : await rewritten();
  let waiting: Waiting[] = [];
  let flushing: Promise<void> | undefined;
  let isClosed = false;
  const closed = Promise.withResolvers<void>();

  function append(record: JournalRecord): Promise<void> {
    if (isClosed) return Promise.reject(new Error(`the journal ${path} is closed`));
    return new Promise((resolve, reject) => {
      waiting.push({ record, resolve, reject });
      flushing ??= flush();
    });
  }

  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await file.append(Buffer.concat(batch.map(({ record }) => toJournalLine(record))));
      } catch (error) {
        for (const { reject } of batch) reject(error);
        continue;
      }
      for (const { record } of batch) entries.apply(record);
      for (const { resolve } of batch) resolve();
      if (file.bytes > WASTE_BYTES + 2 * entries.bytes) await compact();
    }
    // In the same moment in which nothing waits: what comes next starts a flush of its own.
    flushing = undefined;
  }

  /** Failing, it leaves the file as it is, which is longer and just as good. */
  async function compact(): Promise<void> {
    try {
      const old = file;
      file = await rewritten();
      await old.close();
    } catch (error) {
      options.onProblem(`the journal ${path} could not be made smaller: ${error}`);
    }
  }

  return {
    epoch,
    closed: closed.promise,
    entries: async () => entries.list(),
    put: (entry) => append({ put: entry }),
    delete: (id) => append({ delete: id }),
    close() {
      if (isClosed) return;
      isClosed = true;
      const end = (flushing ?? Promise.resolve()).then(() => file.close());
      end.then(closed.resolve, (error) => {
        options.onProblem(`the journal ${path} could not be closed: ${error}`);
        closed.resolve();
      });
    },
  };
}

/** What the records before said, in the order of the last put, within the cap (CL17). */
function createEntries(maxBytes: number) {
  const stored = new Map<string, { entry: JournalEntry; bytes: number }>();
  const sizes = () =>
    [...stored].map(([id, { entry, bytes }]) => ({
      id,
      bytes,
      droppable: entry.repeatable && entry.answer !== null,
    }));
  let total = 0;
  const remove = (id: string) => {
    total -= stored.get(id)?.bytes ?? 0;
    stored.delete(id);
  };
  return {
    get bytes() {
      return total;
    },
    list: () => [...stored.values()].map(({ entry }) => entry),
    records: (epoch: string): JournalRecord[] => [
      { epoch },
      ...[...stored.values()].map(({ entry }) => ({ put: entry })),
    ],
    apply(record: JournalRecord) {
      if ('delete' in record) return remove(record.delete);
      if (!('put' in record)) return;
      const { put } = record;
      remove(put.id);
      const bytes = storedBytes(put);
      stored.set(put.id, { entry: put, bytes });
      total += bytes;
      // Reading the file again drops the same ones, so their going needs no line.
      if (total > maxBytes) for (const id of journalOverflow(sizes(), maxBytes)) remove(id);
    },
  };
}

async function readIfThere(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      return Buffer.alloc(0);
    throw error;
  }
}

function report(
  { path, onProblem }: FileJournalOptions,
  bytes: Buffer,
  { damaged, tornBytes, records }: JournalText,
): void {
  if (tornBytes > 0) {
    onProblem(`the journal ${path}: a last write of ${tornBytes} bytes was cut short, and dropped`);
  }
  if (damaged.length > 0) {
    onProblem(
      `the journal ${path} is damaged: ${damaged.length} records cannot be read, the first at byte ${damaged[0]}; ${records.length} can. Calls whose records are lost end as outcome_unknown`,
    );
  } else if (bytes.length > tornBytes && !records.some((record) => 'epoch' in record)) {
    onProblem(`the journal ${path} has lost its beginning, and starts anew`);
  }
}
