import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { readJson } from '#lib/json/parse-json';
import { CliError } from './exit-codes.ts';

/** SQLite's number for a file that another process has locked. */
const SQLITE_BUSY = 5;

/** A running server writes it into its data directory (`server/main/data-dir-files.ts`). */
const addressSchema = z.object({ url: z.url(), pid: z.number().int() });
type RunningServer = z.infer<typeof addressSchema>;

/** The command line reads these of a data directory; nothing here writes. */
export interface DataDir {
  readonly dir: string;
  /** Tells that a server has it, by the lock that the system drops with the process. */
  isInUse(): boolean;
  /** The address of the server that has it; undefined where none runs, whatever an old file says. */
  server(): RunningServer | undefined;
  /** The operator's token; undefined where there is none. */
  token(): string | undefined;
  /** The certificate authority that the server made for itself. */
  authority(): string | undefined;
}

export function openDataDir(dir: string): DataDir {
  const isInUse = () => isLocked(join(dir, 'lock.db'));
  return {
    dir,
    isInUse,
    server() {
      const text = readIfThere(join(dir, 'address'));
      // A file that a killed server left may lead to another program, which must not get the token.
      if (text === undefined || !isInUse()) return undefined;
      return addressSchema.safeParse(readJson(text)).data;
    },
    token: () => readIfThere(join(dir, 'token'))?.trim() || undefined,
    authority: () => readIfThere(join(dir, 'tls', 'ca.crt')),
  };
}

/** Reading meets the lock of a server and leaves none: a server that starts meanwhile is not in its way. */
function isLocked(file: string): boolean {
  if (!existsSync(file)) return false;
  const database = new DatabaseSync(file, { readOnly: true, timeout: 0 });
  try {
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    database.close();
  }
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY;

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new CliError('failed', `${file} cannot be read (${String(error)}); run as its owner`);
  }
}
