import { constants } from 'node:sqlite';
import type { OwnRowsGuard } from './own-rows.ts';

/** Functions that leave the database, load code or take raw pointers. */
const DENIED_FUNCTIONS =
  /^(?:load_extension|readfile|writefile|edit|fts3_tokenizer|fts5|sqlite_log|rtreecheck|optimize|zipfile|sqlar_.*)$/i;

/** Virtual tables that show pages, settings or what else is not data. */
const DENIED_TABLES = /^(?:pragma_.*|sqlite_dbpage|dbstat|sqlite_stat\d?)$/i;

export interface QueryAuthorizer {
  /** For `setAuthorizer`. */
  authorize(
    action: number,
    first: string | null,
    second: string | null,
    database: string | null,
    within: string | null,
  ): number;
  /** What was denied, for people. */
  readonly denied: string | undefined;
}

/**
 * Allows reading and nothing else, by list: what SQLite learns to do later is
 * denied too. A read-only handle alone would still attach other files.
 */
export function createQueryAuthorizer(
  secretTables: readonly string[],
  ownRows?: OwnRowsGuard,
): QueryAuthorizer {
  const secret = new Set(secretTables.map((table) => table.toLowerCase()));
  let denied: string | undefined;
  const deny = (what: string) => {
    denied ??= what;
    return constants.SQLITE_DENY;
  };
  const isReadable = (table: string, database: string | null, within: string | null) =>
    !DENIED_TABLES.test(table) &&
    (ownRows ? ownRows.isAllowed(table, database, within) : !secret.has(table));
  const authorize: QueryAuthorizer['authorize'] = (action, first, second, database, within) => {
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
  };
  return {
    authorize,
    get denied() {
      return denied;
    },
  };
}
