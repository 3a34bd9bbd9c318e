import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { z } from 'zod';
import { readJson } from '#lib/json/parse-json';
import { CliError } from './exit-codes.ts';
import { ServerApi } from './server-api.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Which server, as the options of each command name it. */
export interface ServerOptions {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly 'data-dir'?: string | undefined;
  readonly ca?: string | undefined;
}

export interface Place {
  readonly env: Environment;
  readonly cwd: string;
}

export function dataDirOf(options: ServerOptions, { env, cwd }: Place): DataDir {
  const named = options['data-dir'] ?? (env.CALLBOARD_DATA_DIR?.trim() || undefined);
  return openDataDir(resolve(cwd, named ?? '.callboard'));
}

/** The address alone; `fromDataDir` where the data directory has it. */
export function findAddress(options: ServerOptions, place: Place) {
  const dataDir = dataDirOf(options, place);
  const named = options.url ?? (place.env.CALLBOARD_URL?.trim() || undefined);
  if (named !== undefined) return { url: parseUrl(named), dataDir };
  const running = dataDir.server();
  if (running !== undefined) return { url: new URL(running.url), dataDir };
  const what = dataDir.isInUse() ? 'the server has not written its address yet' : 'no server runs';
  throw new CliError(
    'unreachable',
    `${what} on the data directory ${dataDir.dir}; start one with "callboard start", or name one with --url or --data-dir`,
  );
}

/** The server that the options, the environment or the data directory name, in this order. */
export function connect(options: ServerOptions, place: Place): ServerApi {
  const { url, dataDir } = findAddress(options, place);
  trustAuthority(options, place, url, dataDir);
  const token = options.token ?? (place.env.CALLBOARD_TOKEN?.trim() || undefined);
  return new ServerApi(url.origin, token ?? tokenOfDataDir(options, url, dataDir));
}

/** For https: the authority that is named, or that the server of this data directory made. */
export function trustAuthority(
  options: ServerOptions,
  { cwd }: Place,
  url: URL,
  dataDir: DataDir,
): void {
  if (url.protocol !== 'https:') return;
  const given = options.ca === undefined ? dataDir.authority() : readAuthority(cwd, options.ca);
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
function tokenOfDataDir(options: ServerOptions, url: URL, dataDir: DataDir): string {
  const own = dataDir.server();
  const isOwn = own !== undefined && new URL(own.url).origin === url.origin;
  const token = isOwn || options['data-dir'] !== undefined ? dataDir.token() : undefined;
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

function openDataDir(dir: string): DataDir {
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
