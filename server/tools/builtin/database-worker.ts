/**
 * The process of one `database.query`: reads the request on its standard input,
 * answers on its standard output, and ends. It holds nothing that is worth
 * saving, so that it can be killed at any moment.
 */

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { constants, DatabaseSync, type StatementSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import {
  type Cell,
  type OwnRows,
  type QueryReply,
  type QueryRequest,
  queryRequestSchema,
} from './query-message.ts';

/** It is asked as SQLite asks for `SQLITE_READ`; `within` is the view or query that reads. */
type IsOwn = (table: string, database: string | null, within: string | null) => boolean;

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/**
 * Puts a view of the same name before each table. The tables themselves can then be read through
 * these views alone, and every other table of the file not at all.
 *
 * SQLite gives the authorizer the name of the view that reads, but also the name of a subquery or
 * a `WITH`, which the statement chooses. So each view reads through a second one, whose random name
 * no statement can have: it is new in each process, and `sqlite_temp_schema` cannot be read.
 */
function showOwnRows(database: DatabaseSync, rows: readonly OwnRows[]): IsOwn {
  const behind = new Map<string, string>();
  for (const { table, where } of rows) {
    const secret = `own_${randomBytes(16).toString('hex')}`;
    database.exec(`
      CREATE TEMP VIEW ${secret} AS SELECT * FROM main.${quoted(table)} WHERE ${where};
      CREATE TEMP VIEW ${quoted(table)} AS SELECT * FROM temp.${secret};
    `);
    behind.set(table.toLowerCase(), secret);
  }
  const secrets = new Set(behind.values());
  const inFile = new Set(
    database
      .prepare('SELECT lower(name) AS name FROM main.sqlite_schema')
      .all()
      .map(({ name }) => String(name)),
  );
  const isSchema = (table: string) => table === 'sqlite_schema' || table === 'sqlite_master';
  return (table, database, within) => {
    if (table.startsWith('sqlite_temp_')) return false;
    // A view of ours reads it: the condition was added.
    if (within !== null && secrets.has(within)) return true;
    const own = behind.get(table);
    if (own !== undefined) return database !== 'main';
    // A name that is not in the file is a view of ours, a `WITH` of the statement, or json_each.
    return isSchema(table) || !inFile.has(table);
  };
}

/** Functions that leave the database, load code or take raw pointers. */
const DENIED_FUNCTIONS =
  /^(?:load_extension|readfile|writefile|edit|fts3_tokenizer|fts5|sqlite_log|rtreecheck|optimize|zipfile|sqlar_.*)$/i;

/** Virtual tables that show pages, settings or what else is not data. */
const DENIED_TABLES = /^(?:pragma_.*|sqlite_dbpage|dbstat|sqlite_stat\d?)$/i;

/**
 * Allows reading and nothing else, by list: what SQLite learns to do later is
 * denied too. A read-only handle alone would still attach other files.
 */
function authorizeReading(
  database: DatabaseSync,
  secretTables: readonly string[],
  isOwn: IsOwn | undefined,
) {
  const secret = new Set(secretTables.map((table) => table.toLowerCase()));
  let denied: string | undefined;
  const deny = (what: string) => {
    denied ??= what;
    return constants.SQLITE_DENY;
  };
  const isReadable = (table: string, database: string | null, within: string | null) =>
    !DENIED_TABLES.test(table) && (isOwn ? isOwn(table, database, within) : !secret.has(table));
  database.setAuthorizer((action, first, second, database, within) => {
    switch (action) {
      case constants.SQLITE_SELECT:
      case constants.SQLITE_RECURSIVE:
        return constants.SQLITE_OK;
      case constants.SQLITE_READ: {
        const table = (first ?? '').toLowerCase();
        if (isReadable(table, database, within)) return constants.SQLITE_OK;
        return deny(`The table "${table}" cannot be read.`);
      }
      case constants.SQLITE_FUNCTION:
        if (!DENIED_FUNCTIONS.test(second ?? '')) return constants.SQLITE_OK;
        return deny(`The function "${second}" is not allowed.`);
      default:
        return deny('Only one statement that reads (SELECT, WITH … SELECT, VALUES) is allowed.');
    }
  });
  /** It tells people what was denied. */
  return () => denied;
}

/** Bytes of one value and of the statement; SQLite's own limits are a thousand times as high. */
const MAX_VALUE_BYTES = 1024 * 1024;
const MAX_SQL_BYTES = 20_000;

/** Runs one reading statement on a database file. For a process of its own: it may take for ever. */
function runQuery(request: QueryRequest): QueryReply {
  let database: DatabaseSync | undefined;
  let denied: (() => string | undefined) | undefined;
  try {
    database = openReadOnly(request.databasePath);
    const isOwn = request.ownRows && showOwnRows(database, request.ownRows);
    database.exec('PRAGMA query_only = ON');
    denied = authorizeReading(database, request.secretTables, isOwn);
    const statement = database.prepare(request.sql);
    // SQLite reads one statement, and ends at a NUL; the rest would be ignored without a word.
    if (!isBlank(request.sql.slice(statement.sourceSQL.length))) {
      return refuse('Only one statement is allowed; there is text after the first.');
    }
    return readRows(statement, request);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown';
    return refuse(denied?.() ?? `SQLite: ${reason}`);
  } finally {
    database?.close();
  }
}

const refuse = (message: string): QueryReply => ({ ok: false, message });

function openReadOnly(path: string): DatabaseSync {
  const database = new DatabaseSync(path, {
    readOnly: true,
    allowExtension: false,
    limits: { length: MAX_VALUE_BYTES, sqlLength: MAX_SQL_BYTES, attach: 0, exprDepth: 200 },
  });
  database.enableDefensive(true);
  // Sorting then takes memory, which is watched, and no disk, which is not.
  database.exec('PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF');
  return database;
}

/** True where nothing but spaces, semicolons and comments is left. */
function isBlank(rest: string): boolean {
  return /^(?:[\s;]|--[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$))*$/.test(rest);
}

function readRows(
  statement: StatementSync,
  { params, maxRows, maxBytes }: QueryRequest,
): QueryReply {
  statement.setReturnArrays(true);
  statement.setReadBigInts(true);
  const columns = statement.columns().map(({ name }) => name);
  if (columns.length === 0)
    return refuse('The statement returns no rows; only reading is allowed.');
  const rows: Cell[][] = [];
  let bytes = 0;
  for (const row of statement.iterate(...params)) {
    const cells = Object.values(row).map(toCell);
    bytes += Buffer.byteLength(JSON.stringify(cells)) + 1;
    if (rows.length >= maxRows || bytes > maxBytes) {
      return { ok: true, columns, rows, row_count: rows.length, truncated: true };
    }
    rows.push(cells);
  }
  return { ok: true, columns, rows, row_count: rows.length, truncated: false };
}

/** A value as JSON can hold it: integers beyond 2^53 and infinities as text, blobs by their size. */
function toCell(value: unknown): Cell {
  if (value === null || typeof value === 'string') return value;
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : String(value);
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  return value instanceof Uint8Array ? `[blob of ${value.byteLength} bytes]` : String(value);
}

/** Past the tool's timeout, so that it only counts when the server has ended without killing us. */
const LONGEST_LIFE_MS = 15_000;
/** A bare process takes some 60 MB. */
const MOST_MEMORY_BYTES = 384 * 1024 * 1024;

/** Runs beside the query, which blocks its own thread, and ends the process from within. */
const WATCHDOG = `
  const end = () => process.kill(process.pid, 'SIGKILL');
  setTimeout(end, ${LONGEST_LIFE_MS});
  setInterval(() => process.memoryUsage.rss() > ${MOST_MEMORY_BYTES} && end(), 20);
`;

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

const watchdog = new Worker(WATCHDOG, { eval: true });
// It has to be awake before the query takes this thread.
const awake = once(watchdog, 'online');
const request = queryRequestSchema.parse(JSON.parse(await readInput()));
await awake;
const reply = JSON.stringify(runQuery(request));
await new Promise((resolve) => process.stdout.write(reply, resolve));
await watchdog.terminate();
