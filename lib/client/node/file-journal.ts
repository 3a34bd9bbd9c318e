import { Buffer } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { passOverMissing } from '../../util/is-missing.ts';
import { JOURNAL_BYTES, type Journal, JournalEntries, type JournalEntry } from '../journal.ts';
import {
  type JournalFile,
  type JournalRecord,
  openJournalFile,
  parseJournalRecord,
  replaceJournalFile,
} from './journal-file.ts';

/** Reads what a journal's file holds, damaged or not. */
interface JournalText {
  readonly records: readonly JournalRecord[];
  /** Offsets of what cannot be read, and is no write that was cut short. */
  readonly damaged: readonly number[];
  /** Bytes of a last write that was cut short; its `put` never resolved. */
  readonly tornBytes: number;
}

const NEWLINE = 0x0a;
/** Checksum and length in front of the JSON, and what a cut leaves of them. */
const HEAD = /^([0-9a-f]{8}) (\d{1,10}) /;
const HEAD_CUT_SHORT = /^[0-9a-f]{0,8}$|^[0-9a-f]{8} \d{0,10}$/;
const HEAD_BYTES = 20;

/** `crc32 length json`, and a line break, which JSON never contains. */
function toJournalLine(record: JournalRecord): Buffer {
  const json = JSON.stringify(record);
  return Buffer.from(`${checksum(json)} ${Buffer.byteLength(json)} ${json}\n`);
}

/** Reads all that can be read, and distinguishes a write that was cut short from damage (CL22, CL23). */
function readJournalText(bytes: Buffer): JournalText {
  const records: JournalRecord[] = [];
  const damaged: number[] = [];
  let start = 0;
  for (;;) {
    const end = bytes.indexOf(NEWLINE, start);
    if (end < 0) break;
    const record = parseLine(bytes.subarray(start, end));
    if (record) records.push(record);
    else damaged.push(start);
    start = end + 1;
  }
  const tail = bytes.subarray(start);
  if (tail.length > 0 && !isCutShort(tail))
    return { records, damaged: [...damaged, start], tornBytes: 0 };
  return { records, damaged, tornBytes: tail.length };
}

function parseLine(line: Buffer): JournalRecord | undefined {
  const head = HEAD.exec(line.toString('latin1', 0, HEAD_BYTES));
  if (!head) return undefined;
  const [{ length }, sum, bytes] = head;
  const json = line.subarray(length);
  if (json.length !== Number(bytes) || checksum(json) !== sum) return undefined;
  try {
    return parseJournalRecord(JSON.parse(json.toString('utf8')));
  } catch {
    return undefined; // Whole, but not JSON: like what another version wrote, it counts as damaged.
  }
}

/**
 * A write that was cut short is the beginning of a line, or room that the
 * system had set aside and not filled. A whole line without its line break was
 * on disk once and has changed since: that is damage.
 */
function isCutShort(tail: Buffer): boolean {
  if (tail.every((byte) => byte === 0)) return true;
  const start = tail.toString('latin1', 0, HEAD_BYTES);
  const head = HEAD.exec(start);
  if (!head) return tail.length < HEAD_BYTES && HEAD_CUT_SHORT.test(start);
  return (
    tail.length <= head[0].length + Number(head[2]) && !tail.subarray(head[0].length).includes(0)
  );
}

const checksum = (text: string | Buffer): string => crc32(text).toString(16).padStart(8, '0');

/** A journal on a program's disk. Only one program may have it open; `lockDataDir` ensures that. */
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
  const bytes = (await readFile(path).catch(passOverMissing)) ?? Buffer.alloc(0);
  const text = readJournalText(bytes);
  const entries = new JournalEntries(maxBytes);
  for (const record of text.records) apply(record, entries);
  const kept = text.records.find((record) => 'epoch' in record)?.epoch;
  const isWhole = kept !== undefined && text.damaged.length === 0;
  report(options, bytes, text);
  const epoch = isWhole ? kept : options.newId();
  const file = isWhole
    ? await openJournalFile(path, bytes.length - text.tornBytes)
    : await rewrite(path, epoch, entries);
  return new OpenFileJournal(options, epoch, entries, file);
}

class OpenFileJournal implements FileJournal {
  readonly epoch: string;
  readonly #options: FileJournalOptions;
  readonly #entries: JournalEntries;
  readonly #closed = Promise.withResolvers<void>();
  #file: JournalFile;
  #waiting: Waiting[] = [];
  #flushing: Promise<void> | undefined;
  #isClosed = false;

  constructor(
    options: FileJournalOptions,
    epoch: string,
    entries: JournalEntries,
    file: JournalFile,
  ) {
    this.#options = options;
    this.epoch = epoch;
    this.#entries = entries;
    this.#file = file;
  }

  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  async entries(): Promise<JournalEntry[]> {
    return this.#entries.list();
  }

  put(entry: JournalEntry): Promise<void> {
    return this.#append({ put: entry });
  }

  delete(id: string): Promise<void> {
    return this.#append({ delete: id });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const end = (this.#flushing ?? Promise.resolve()).then(() => this.#file.close());
    end.then(this.#closed.resolve, (error) => {
      const { path, onProblem } = this.#options;
      onProblem(`the journal ${path} could not be closed: ${error}`);
      this.#closed.resolve();
    });
  }

  #append(record: JournalRecord): Promise<void> {
    if (this.#isClosed) {
      return Promise.reject(new Error(`the journal ${this.#options.path} is closed`));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ record, resolve, reject });
      this.#flushing ??= this.#flush();
    });
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await this.#file.append(Buffer.concat(batch.map(({ record }) => toJournalLine(record))));
      } catch (error) {
        for (const { reject } of batch) reject(error);
        continue;
      }
      for (const { record } of batch) apply(record, this.#entries);
      for (const { resolve } of batch) resolve();
      if (this.#file.bytes > WASTE_BYTES + 2 * this.#entries.bytes) await this.#compact();
    }
    // In the same moment in which nothing waits: what comes next starts a flush of its own.
    this.#flushing = undefined;
  }

  /** When it fails, the file stays as it is: longer, and of the same content. */
  async #compact(): Promise<void> {
    const { path, onProblem } = this.#options;
    try {
      const old = this.#file;
      this.#file = await rewrite(path, this.epoch, this.#entries);
      await old.close();
    } catch (error) {
      onProblem(`the journal ${path} could not be made smaller: ${error}`);
    }
  }
}

/** Reading the file again drops the same entries over the cap, so that needs no line. */
function apply(record: JournalRecord, entries: JournalEntries): void {
  if ('delete' in record) entries.delete(record.delete);
  else if ('put' in record) entries.put(record.put);
}

function rewrite(path: string, epoch: string, entries: JournalEntries): Promise<JournalFile> {
  const records: JournalRecord[] = [{ epoch }, ...entries.list().map((put) => ({ put }))];
  return replaceJournalFile(path, Buffer.concat(records.map(toJournalLine)));
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
