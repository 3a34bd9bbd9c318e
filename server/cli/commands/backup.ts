import { chmodSync, constants, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { copyFile, lstat, mkdir, opendir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { formatBytes } from '#lib/format/amounts';
import { errorMessage } from '#lib/util/error-message';
import { passOverMissing } from '#lib/util/is-missing';
import type { Command } from '../command.ts';
import { CliError } from '../exit-codes.ts';
export const backupCommand: Command = {
  name: 'backup',
  parameters: '<folder>',
  summary:
    'Copy the data directory into an empty folder, also while the server runs, and verify it',
  counts: [1, 1],
  notes: [
    'The copy has the history, the files of results, the keys and the operator token: keep it as',
    'safe as the original. To restore it, start with CALLBOARD_DATA_DIR set to a copy of it.',
  ],
  async run({ args, out, cwd, dataDir, signal }) {
    const to = resolve(cwd, args[0] ?? '');
    const from = dataDir().dir;
    makeEmpty(to);
    const copied = await copyDataDir({ from, to, signal });
    const parts = copied.toSorted((a, b) => b.bytes - a.bytes);
    out.document({ from, to, parts });
    for (const { name, bytes, files } of parts) out.line(lineOf(name, bytes, files));
    out.line(`The copy of ${from} is in ${to}; its database was verified.`);
    return 'ok';
  },
};

const lineOf = (name: string, bytes: number, files: number): string =>
  `${formatBytes(bytes, 'en').padStart(12)}  ${name}${files === 1 ? '' : ` (${files} files)`}`;

function makeEmpty(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (readdirSync(folder).length === 0) return;
  } catch (error) {
    throw new CliError('failed', `${folder} cannot be used: ${errorMessage(error)}`);
  }
  throw new CliError(
    'usage',
    `${folder} is not empty; name a folder that is empty, or not there yet, such as ${basename(folder)}-2`,
  );
}

interface CopiedPart {
  /** A file or a folder in the data directory. */
  readonly name: string;
  readonly bytes: number;
  readonly files: number;
}

interface Copying {
  readonly from: string;
  readonly to: string;
  readonly signal: AbortSignal;
}

/** In one step: with pages in steps, a busy server would have it begin again and again. */
const ALL_PAGES = 2 ** 31 - 1;
const DATABASE = 'callboard.db';
/**
 * How many commits the database holds at least. Taken first it is true of the copy; a later one
 * would be of commits that the copy has not, and a start would find it damaged.
 */
const MARK = `${DATABASE}.mark`;
const BLOBS = 'blobs';
/** A running server alone needs them. */
const LEFT_OUT = new Set(['lock.db', 'lock.db-journal', 'address']);

/**
 * A copy from which a server can start. Files of results are there before the record leads to them,
 * so they are copied after the database as well: what came meanwhile is then in the copy too.
 */
export async function copyDataDir(copying: Copying): Promise<CopiedPart[]> {
  const { from, to } = copying;
  if (!existsSync(join(from, DATABASE))) {
    throw new CliError(
      'notFound',
      `${from} is not a data directory: it has no ${DATABASE}; name one with --data-dir`,
    );
  }
  const parts: CopiedPart[] = [];
  try {
    await copyEntry(copying, BLOBS);
    parts.push(await copyEntry(copying, MARK));
    parts.push(await copyDatabase(copying));
    parts.push(await copyEntry(copying, BLOBS));
    for await (const { name } of await opendir(from)) {
      // Files beside the database belong to that very file, and no copy of them is true.
      if (name.startsWith(DATABASE) || name === BLOBS || LEFT_OUT.has(name)) continue;
      parts.push(await copyEntry(copying, name));
    }
    verify(join(to, DATABASE));
  } catch (error) {
    if (error instanceof CliError || copying.signal.aborted) throw error;
    throw new CliError(
      'failed',
      `${from} could not be copied to ${to}: ${errorMessage(error)}; what is there now is no backup`,
    );
  }
  return parts;
}

/** By SQLite's own backup: one state of the database, whatever is written meanwhile. */
async function copyDatabase({ from, to, signal }: Copying): Promise<CopiedPart> {
  const source = new DatabaseSync(join(from, DATABASE), { readOnly: true, timeout: 10_000 });
  const file = join(to, DATABASE);
  try {
    await backup(source, file, { rate: ALL_PAGES });
  } finally {
    source.close();
  }
  signal.throwIfAborted();
  chmodSync(file, 0o600);
  return { name: DATABASE, bytes: (await lstat(file)).size, files: 1 };
}

function verify(file: string): void {
  const address = pathToFileURL(file);
  // Nothing else has it open: no log is made beside it.
  address.search = '?immutable=1';
  const copy = new DatabaseSync(address, { readOnly: true });
  try {
    const rows = copy.prepare('PRAGMA quick_check(1)').all();
    const [answer] = rows.map((row) => Object.values(row)[0]);
    if (answer === 'ok') return;
    throw new CliError(
      'failed',
      `the copy ${file} is damaged: ${String(answer)}; the original may be too: stop the server and start it, which examines it`,
    );
  } finally {
    copy.close();
  }
}

/** A file, or a folder with all in it. What is neither, such as a link or a socket, is left out. */
async function copyEntry(copying: Copying, name: string): Promise<CopiedPart> {
  const total = { bytes: 0, files: 0 };
  await copyTree(join(copying.from, name), join(copying.to, name), copying.signal, total);
  return { name, ...total };
}

async function copyTree(
  from: string,
  to: string,
  signal: AbortSignal,
  total: { bytes: number; files: number },
): Promise<void> {
  signal.throwIfAborted();
  const facts = await statIfThere(from);
  if (facts?.isDirectory()) {
    await mkdir(to, { recursive: true, mode: facts.mode });
    for await (const { name } of await opendir(from)) {
      await copyTree(join(from, name), join(to, name), signal, total);
    }
  } else if (facts?.isFile()) {
    const there = await statIfThere(to);
    // Files of results never change; others are small.
    if (there?.size !== facts.size) await copyIfThere(from, to);
    total.bytes += facts.size;
    total.files += 1;
  }
}

/** Old files are deleted while the server runs. */
async function copyIfThere(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE).catch(passOverMissing);
}

const statIfThere = (path: string) => lstat(path).catch(passOverMissing);
