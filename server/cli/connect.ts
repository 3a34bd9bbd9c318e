import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { z } from 'zod';
import { readJson } from '#lib/json/parse-json';
import { CliError } from './exit-codes.ts';
import { ServerApi } from './server-api.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where a command runs; its options name which server it asks. */
export interface Place {
  readonly env: Environment;
  readonly cwd: string;
  /** The text of an option that was given. */
  text(option: string): string | undefined;
}

/** An option, else the variable in its place. */
const named = ({ env, text }: Place, option: string, variable: string): string | undefined =>
  text(option) ?? (env[variable]?.trim() || undefined);

export const dataDirOf = (place: Place): DataDir =>
  openDataDir(resolve(place.cwd, named(place, 'data-dir', 'CALLBOARD_DATA_DIR') ?? '.callboard'));

/** The address alone, with the data directory that may have it. */
export function findAddress(place: Place) {
  const dataDir = dataDirOf(place);
  const given = named(place, 'url', 'CALLBOARD_URL');
  if (given !== undefined) return { url: parseUrl(given), dataDir };
  const running = dataDir.server();
  if (running !== undefined) return { url: new URL(running.url), dataDir };
  const what = dataDir.isInUse() ? 'the server has not written its address yet' : 'no server runs';
  throw new CliError(
    'unreachable',
    `${what} on the data directory ${dataDir.dir}; start one with "callboard start", or name one with --url or --data-dir`,
  );
}

/** The server that the options, the environment or the data directory name, in this order. */
export function connect(place: Place): ServerApi {
  const { url, dataDir } = findAddress(place);
  trustAuthority(place, url, dataDir);
  const token = named(place, 'token', 'CALLBOARD_TOKEN');
  return new ServerApi(url.origin, token ?? tokenOfDataDir(place, url, dataDir));
}

/** For https: the authority that is named, or that the server of this data directory made. */
export function trustAuthority({ cwd, text }: Place, url: URL, dataDir: DataDir): void {
  if (url.protocol !== 'https:') return;
  const file = text('ca');
  const given = file === undefined ? dataDir.authority() : readAuthority(cwd, file);
  if (given === undefined) return;
  const known = getCACertificates('default');
  if (!known.includes(given)) setDefaultCACertificates([...known, given]);
}

function readAuthority(cwd: string, file: string): string {
  try {
    return readFileSync(resolve(cwd, file), 'utf8');
  } catch (error) {
    throw new CliError('notFound', `--ca ${file} cannot be read: ${String(error)}`);
  }
}

/** A token goes to the server of its own data directory, or where the caller names both. */
function tokenOfDataDir({ text }: Place, url: URL, dataDir: DataDir): string {
  const own = dataDir.server();
  const isOwn = own !== undefined && new URL(own.url).origin === url.origin;
  const token = isOwn || text('data-dir') !== undefined ? dataDir.token() : undefined;
  if (token !== undefined) return token;
  throw new CliError(
    'refused',
    `there is no token for ${url.origin}; give one with CALLBOARD_TOKEN or --token, or name its data directory with --data-dir`,
  );
}

function parseUrl(text: string): URL {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  throw new CliError(
    'usage',
    `${JSON.stringify(text)} is not the address of a server; one is http://127.0.0.1:3000`,
  );
}

/** SQLite's number for a file that another process has locked. */
const SQLITE_BUSY = 5;

/** A running server writes it into its data directory (`server/main/data-dir-files.ts`). */
const addressSchema = z.object({ url: z.url(), pid: z.number().int() });

export type DataDir = ReturnType<typeof openDataDir>;

/** The command line reads these of a data directory; nothing here writes. */
function openDataDir(dir: string) {
  /** Tells that a server has it, by the lock that the system drops with the process. */
  const isInUse = () => isLocked(join(dir, 'lock.db'));
  return {
    dir,
    isInUse,
    /** The address of the server that has it; undefined where none runs, whatever an old file says. */
    server() {
      const text = readIfThere(join(dir, 'address'));
      // A file that a killed server left may lead to another program, which must not get the token.
      if (text === undefined || !isInUse()) return undefined;
      return addressSchema.safeParse(readJson(text)).data;
    },
    /** The operator's token; undefined where there is none. */
    token: () => readIfThere(join(dir, 'token'))?.trim() || undefined,
    /** The certificate authority that the server made for itself. */
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
