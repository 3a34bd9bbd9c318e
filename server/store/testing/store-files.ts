import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { finalCall } from '#lib/call/testing/sample-call';
import { sampleModelTurn } from '#lib/protocol/testing/sample-model-turn';
import { checkStoreFile, walFile } from '../integrity/check-store-file.ts';
import type { WalSource } from '../integrity/scan-wal.ts';
import { GUARDED_TABLES, type GuardedTable } from '../row-checksum.ts';
import { createSqliteStore } from '../sqlite-store.ts';
import type { Change } from '../store.ts';
import { markFile } from '../store-mark.ts';
import { appendCall } from './store-setup.ts';

export const sourceOf = (bytes: Buffer): WalSource => ({
  size: bytes.length,
  read: (at, length) => bytes.subarray(at, at + length),
});

/** The bytes of a store as a process that was killed leaves them. */
export interface StoreFiles {
  readonly database: Buffer;
  readonly log: Buffer;
  readonly mark: Buffer;
}

/** Everything promised that a database holds, as text; read by SQLite alone, without any check. */
export type Content = Readonly<Record<GuardedTable, readonly string[]>>;

/** Call `number` of a populated store is made of this. */
export function changesOf(number: number): Change[] {
  const id = `tc_${String(number).padStart(4, '0')}`;
  const at = 1_700_000_000 + number;
  const text = `call ${number} `.repeat(20);
  return [
    appendCall(finalCall({ id, args: { text }, createdAt: at * 1_000, version: 1 })),
    { type: 'put_idempotency', entry: { scope: `operator\n${id}`, fingerprint: 'f', callId: id } },
    {
      type: 'put_message',
      position: number,
      message: {
        message_id: `msg_${id}`,
        run_id: 'run_1',
        role: 'user',
        status: 'done',
        parts: [{ type: 'text', text }],
        created_at: at,
      },
    },
    {
      type: 'put_model_turn',
      turn: sampleModelTurn({ number: number + 1, message_id: `msg_${id}`, started_at: at }),
    },
    {
      type: 'put_session',
      session: { idHash: `hash ${id}`, createdAt: at, expiresAt: at, tokenId: null },
    },
  ];
}

/**
 * Fills a store, half of it in the database and the other half, one transaction
 * per call, in its log; and gives the files as they lie there while it runs.
 */
export async function makeStoreFiles(dir: string, calls: number): Promise<StoreFiles> {
  mkdirSync(dir, { recursive: true });
  const file = join(dir, 'callboard.db');
  const half = Math.floor(calls / 2);
  const first = createSqliteStore({ file, scheduleIndexing: () => () => {} });
  for (let number = 0; number < half; number += 1) await first.write(changesOf(number));
  await first.close();
  const second = createSqliteStore({ file, scheduleIndexing: () => () => {} });
  for (let number = half; number < calls; number += 1) await second.write(changesOf(number));
  const files = readStoreFiles(file);
  await second.close();
  rmSync(dir, { recursive: true });
  return files;
}

export const readStoreFiles = (file: string): StoreFiles => ({
  database: readFileSync(file),
  log: readFileSync(walFile(file)),
  mark: readFileSync(markFile(file)),
});

/** Lays the files of a store out; what is undefined is not there. */
export function placeStoreFiles(file: string, files: Partial<StoreFiles>): void {
  rmSync(dirname(file), { recursive: true, force: true });
  mkdirSync(dirname(file), { recursive: true });
  if (files.database) writeFileSync(file, files.database);
  if (files.log) writeFileSync(walFile(file), files.log);
  if (files.mark) writeFileSync(markFile(file), files.mark);
}

/** SQLite makes this of the files, with nobody looking after it. */
export function readContent(file: string): Content {
  const copy = `${file}.read`;
  copyFileSync(file, copy);
  if (existsSync(walFile(file))) copyFileSync(walFile(file), walFile(copy));
  const database = new DatabaseSync(copy);
  try {
    const rows = (table: GuardedTable) =>
      database
        .prepare(`SELECT * FROM ${table}`)
        .all()
        .map((row) => JSON.stringify(row));
    const tables = GUARDED_TABLES.map((table) => [table, rows(table).sort()]);
    return Object.fromEntries(tables) as Content;
  } finally {
    database.close();
    for (const name of [copy, walFile(copy), `${copy}-shm`]) rmSync(name, { force: true });
  }
}

export type Verdict =
  | { readonly kind: 'refused'; readonly problem: string }
  /** Opened, and nothing is missing or different. */
  | { readonly kind: 'same' }
  /** Opened without what came last, and it was told. */
  | { readonly kind: 'torn'; readonly lostCalls: number }
  /** The one thing that must never be. */
  | { readonly kind: 'wrong' };

/** How a start would take these files, held against what was acknowledged. */
export function classifyStoreFiles(file: string, expected: Content): Verdict {
  const check = checkStoreFile(file);
  if (check.kind === 'damaged') return { kind: 'refused', problem: check.problem };
  if (check.kind === 'new') return { kind: 'wrong' };
  const content = readContent(file);
  if (isSame(content, expected)) return { kind: 'same' };
  const lostCalls = expected.log.length - content.log.length;
  const isPart = GUARDED_TABLES.every((table) =>
    content[table].every((row) => expected[table].includes(row)),
  );
  return isPart && check.droppedFrames > 0 ? { kind: 'torn', lostCalls } : { kind: 'wrong' };
}

const isSame = (a: Content, b: Content): boolean =>
  GUARDED_TABLES.every((table) => a[table].join('\n') === b[table].join('\n'));

export function flipBit(bytes: Buffer, at: number, bit = 0): Buffer {
  const flipped = Buffer.from(bytes);
  flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << bit), at);
  return flipped;
}

/** Numbers from 0 to `below`, the same for the same seed. */
export function createRandom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
