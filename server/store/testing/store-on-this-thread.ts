import { DatabaseSync } from 'node:sqlite';
import type { RawBuilder } from 'kysely';
import { compileQuery } from '../compile-query.ts';
import { firstRows } from '../first-rows.ts';
import type { ReadThread } from '../read-thread.ts';
import { createSqliteStore, type Store } from '../sqlite-store.ts';
import { StoreBusyError } from '../store-errors.ts';
import { TERMS_TABLE } from '../word-terms.ts';
import { openWriteConnection } from '../write-connection.ts';
import { toGroup, type WriteThread } from '../write-thread.ts';

/**
 * The store for tests of everything else: nine tenths of what a store costs a test are the starts
 * of its two threads. Here both connections are of the test's own thread; the same contract holds.
 */
export function createStoreOnThisThread(options: Parameters<typeof createSqliteStore>[0]): Store {
  return createSqliteStore({ ...options, startWriting, startReading });
}

/** Like an answer of a thread, each comes in a later turn of the event loop, in order. */
const inLaterTurn = <Answer>(work: () => Answer): Promise<Answer> =>
  new Promise((resolve, reject) => {
    setImmediate(() => {
      try {
        resolve(work());
      } catch (error) {
        reject(error);
      }
    });
  });

function startWriting({ file }: { readonly file: string }): WriteThread {
  const connection = openWriteConnection(file);
  let statements = 0;
  return {
    prepare(sql, sums = []) {
      statements += 1;
      connection.prepare(statements, sql, sums);
      return statements;
    },
    commit: (steps, position) => inLaterTurn(() => connection.commit(toGroup(steps), position)),
    apply: () => inLaterTurn(connection.apply),
    close: () => inLaterTurn(connection.close),
  };
}

function startReading({ file }: { readonly file: string }): ReadThread {
  let database: DatabaseSync | undefined;
  let isClosed = false;
  /** Opened by the first query, as the thread is started by it. */
  function open(): DatabaseSync {
    const opened = new DatabaseSync(file, { readOnly: true });
    opened.exec(TERMS_TABLE);
    return opened;
  }
  return {
    rows<Row>(query: RawBuilder<Row>, maxChars = Number.POSITIVE_INFINITY) {
      return inLaterTurn(() => {
        if (isClosed) throw new StoreBusyError('the database is closed');
        database ??= open();
        const { sql, values } = compileQuery(query);
        const found = database.prepare(sql).iterate(...values);
        return firstRows(found as Iterable<Row & object>, maxChars);
      });
    },
    async close() {
      isClosed = true;
      database?.close();
    },
  };
}
