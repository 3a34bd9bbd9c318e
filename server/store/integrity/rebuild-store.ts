import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { lockDataDir } from '../data-dir.ts';
import { migrate } from '../migrate.ts';
import { MIGRATIONS } from '../migrations.ts';
import { GUARDED_TABLES } from '../row-checksum.ts';
import { readSchema, schemaAfter, shapeOf } from '../schema.ts';
import { StoreDamagedError } from '../store-errors.ts';
import { readMark, syncDirectory } from '../store-mark.ts';
import { checkStoreFile, findProblem, rebuiltFile, walFile } from './check-store-file.ts';
import { fileSize } from './file-bytes.ts';
import { makeStore } from './make-store.ts';

/** The store is left as it is; the message says what can be done. */
export class StoreNotRebuiltError extends Error {
  override readonly name = 'StoreNotRebuiltError';
}

/**
 * Makes all anew that follows from the log and the documents, in a file beside that takes the place
 * of the database once it is whole: one of both is there at each moment (rule ST86). No server may
 * have the directory. Gives the file; throws `DataDirInUseError`, `StoreDamagedError` or
 * `StoreNotRebuiltError`.
 */
export function rebuildStore(options: {
  readonly dir: string;
  report(line: string): void;
}): string {
  const { dir, report } = options;
  const file = join(dir, 'callboard.db');
  if (!existsSync(dir))
    throw new StoreNotRebuiltError(`${dir} is not there; name it by --data-dir`);
  const lock = lockDataDir(dir);
  const rebuilt = rebuiltFile(file);
  try {
    refuseUnfit(file);
    report(`the database ${file} is whole`);
    makeStore(rebuilt, { report, bringTruth: (store) => copyTruth(file, store, report) });
    const problem = findProblem(rebuilt, { acknowledged: readMark(file) ?? 0 });
    if (problem !== undefined) throw new Error(`what was made of ${file} is damaged: ${problem}`);
    report('what was made is whole');
    // Empty since it was put into the database; it must not be taken for the log of another one.
    for (const name of [walFile(file), `${file}-shm`]) rmSync(name, { force: true });
    renameSync(rebuilt, file);
    syncDirectory(dirname(file));
    report(`it has taken the place of ${file}`);
    return file;
  } finally {
    rmSync(rebuilt, { force: true });
    lock.release();
  }
}

function refuseUnfit(file: string): void {
  const check = checkStoreFile(file);
  if (check.kind === 'damaged') throw new StoreDamagedError(file, check.problem);
  if (check.kind === 'new') throw new StoreNotRebuiltError(`there is no database ${file}`);
  const database = new DatabaseSync(file, { timeout: 5_000 });
  try {
    const there = readSchema(database).map(({ name }) => name);
    const known = new Set(schemaAfter(MIGRATIONS.length).map(({ name }) => name));
    if ([...known].some((name) => !there.includes(name))) {
      throw new StoreNotRebuiltError(
        `the database ${file} is of an older version; start the server once, which brings it to this one`,
      );
    }
    const other = there.find((name) => !known.has(name) && !name.startsWith('sqlite_'));
    if (other !== undefined) {
      throw new StoreNotRebuiltError(
        `the database ${file} has ${other}, which would not be in the new one; drop it, or start the version that made it`,
      );
    }
    const { busy } = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {};
    if (busy === 0 && !fileSize(walFile(file))) return;
  } finally {
    database.close();
  }
  throw new StoreNotRebuiltError(`another program has ${file} open; end it first`);
}

/** By SQL alone; each row as it is. */
function copyTruth(file: string, store: DatabaseSync, report: (line: string) => void): void {
  migrate(store, MIGRATIONS);
  store.prepare('ATTACH ? AS before').run(`${pathToFileURL(file)}?immutable=1`);
  store.exec('BEGIN');
  for (const table of GUARDED_TABLES) {
    const columns = shapeOf(table).columns.map(({ name }) => name);
    store.exec(`INSERT INTO main.${table} (${columns}) SELECT ${columns} FROM before.${table}`);
  }
  store.exec(`INSERT OR REPLACE INTO main.meta (key, value)
    SELECT key, value FROM before.meta WHERE key <> 'applied'`);
  store.exec('COMMIT; DETACH before');
  report('the log and the documents are copied');
}
