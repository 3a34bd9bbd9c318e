import { z } from 'zod';
import { defineTool, ToolError } from '../define-tool.ts';
import type { QueryRequest } from './query-message.ts';
import { type QueryOutcome, runQueryProcess } from './query-process.ts';

const MAX_ROWS = 1_000;
const MAX_BYTES = 1024 * 1024;

export interface DatabaseQueryDeps {
  /** The SQLite file that is read. */
  readonly databasePath: string;
  /** Tables that nobody may read through the tool. */
  readonly secretTables: readonly string[];
  /** What is in the database, for the model. */
  readonly about: string;
  /** `database-worker`, built or source. */
  readonly workerPath: string;
  readonly timeoutMs?: number;
}

/** `database.query`: one reading statement, in a process that can be killed. */
export function createDatabaseQuery({
  databasePath,
  secretTables,
  about,
  workerPath,
  timeoutMs = 10_000,
}: DatabaseQueryDeps) {
  return defineTool({
    name: 'database.query',
    displayName: 'Database',
    description: `Runs one read-only SQL statement (SQLite) on ${about} Returns {columns, rows, row_count, truncated}, at most ${MAX_ROWS} rows. To see what there is: select name, sql from sqlite_schema. Put values into params and ? into the SQL.`,
    args: z.object({
      sql: z
        .string()
        .min(1)
        .max(10_000)
        .describe('One SELECT, e.g. "select count(*) from t where a = ?"'),
      params: z
        .array(z.union([z.string(), z.number(), z.boolean(), z.null()]))
        .max(100)
        .optional()
        .describe('Values for the ? in the SQL, in order'),
    }),
    effect: 'read',
    timeoutMs,
    run: async ({ sql, params = [] }, { signal, status }) => {
      status({ tip: `Querying: ${sql.replace(/\s+/g, ' ').slice(0, 120)}` });
      const request: QueryRequest = {
        databasePath,
        sql,
        // SQLite has no booleans.
        params: params.map((value) => (typeof value === 'boolean' ? Number(value) : value)),
        secretTables: [...secretTables],
        maxRows: MAX_ROWS,
        maxBytes: MAX_BYTES,
      };
      const within = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      return { output: toOutput(await runQueryProcess({ workerPath, signal: within }, request)) };
    },
  });
}

function toOutput(outcome: QueryOutcome) {
  switch (outcome.kind) {
    case 'aborted':
      throw new ToolError('The query was stopped before it ended; make it touch fewer rows.');
    case 'died':
      throw new ToolError(
        `The query's process ended without an answer (${outcome.reason}), most likely for want of memory; ask for less at once.`,
      );
    case 'reply': {
      if (!outcome.reply.ok) throw new ToolError(outcome.reply.message);
      const { columns, rows, row_count, truncated } = outcome.reply;
      return { columns, rows, row_count, truncated };
    }
  }
}
