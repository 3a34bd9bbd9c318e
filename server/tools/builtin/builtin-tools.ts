import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { given } from '#lib/util/given';
import { ConfigError } from '../../base/config-error.ts';
import type { Logger } from '../../base/logger.ts';
import type { Store } from '../../store/room.ts';
import type { AnyServerTool } from '../define-tool.ts';
import type { ToolSettings } from '../tools-config.ts';
import { createAskHuman, createAttemptCompletion } from './ask-human.ts';
import { createCalculationEval } from './calculate.ts';
import { createDatabaseQuery } from './database-query.ts';
import { createHttpRequest } from './http-request.ts';
import { createMemoryTools, type MemoryDeps } from './memory.ts';
import type { OwnRows } from './query-message.ts';
import { createRunCode } from './run-code.ts';
import { createWeatherQuery } from './weather-query.ts';

export interface ToolParts extends Pick<MemoryDeps, 'clock' | 'hide' | 'othersRead'> {
  readonly store: MemoryDeps['store'] & Pick<Store, 'listKept'>;
  /** The file that a thread or a process of a tool runs; `built` is its name after the build. */
  threadOf(built: string, source: string): string;
  /** It is the server's; tools are given what the configuration names. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Pick<Logger, 'info'>;
}

/** One owner's, and those of all together. */
const MEMORY = { bytes: 1024 * 1024, allBytes: 64 * 1024 * 1024 };

/** Tables of our own store that hold secrets or hashes of them, or what administrators alone read. */
const SECRET_TABLES = [
  ...['sessions', 'clients', 'meta', 'idempotency', 'tokens', 'audit', 'kept', 'memories'],
  // The index over them, with the tables that FTS5 keeps behind it.
  ...['', '_config', '_data', '_docsize', '_idx'].map((part) => `memory_text${part}`),
];

/** These rows of the history belong to the holder of a token; the other tables are not read at all. */
function rowsOf(token: string): OwnRows[] {
  const mine = `'${token.replaceAll("'", "''")}'`;
  const runs = `SELECT run_id FROM main.runs WHERE owner ->> '$.token_id' = ${mine}`;
  const calls = `SELECT id FROM main.calls WHERE owner_token = ${mine}`;
  return [
    { table: 'calls', where: `owner_token = ${mine}` },
    { table: 'log', where: `call_id IN (${calls})` },
    { table: 'runs', where: `owner ->> '$.token_id' = ${mine}` },
    { table: 'messages', where: `run_id IN (${runs})` },
    { table: 'model_turns', where: `run_id IN (${runs})` },
  ];
}

/** `database.query` on the history of this server. */
export const createHistoryQuery = (databasePath: string, workerPath: string): AnyServerTool =>
  createDatabaseQuery({
    databasePath,
    secretTables: SECRET_TABLES,
    rowsOf,
    about: "this workbench's own history (tables calls, log, runs, messages, model_turns).",
    workerPath,
  });

/** The server's own tools but those of the workspace, listed by hand. */
export function openBuiltins(
  { filePath, dataDir, file }: ToolSettings,
  { threadOf, store, clock, hide, othersRead }: ToolParts,
): AnyServerTool[] {
  const { weather, database, tools } = file;
  const queryWorker = threadOf('database-worker.mjs', 'tools/builtin/database-worker.ts');
  const codeWorker = threadOf('run-code-worker.mjs', 'tools/builtin/run-code-worker.ts');
  const kept = { store, clock, hide, ...given({ othersRead }) };
  return [
    createWeatherQuery({
      fetch,
      weatherBaseUrl: weather.forecast_url ?? 'https://api.open-meteo.com',
      geocodingBaseUrl: weather.geocoding_url ?? 'https://geocoding-api.open-meteo.com',
    }),
    database === undefined
      ? createHistoryQuery(join(dataDir, 'callboard.db'), queryWorker)
      : createDatabaseQuery({
          databasePath: databaseFile(filePath, database),
          secretTables: [],
          about: "the operator's database.",
          workerPath: queryWorker,
        }),
    createCalculationEval(),
    ...(tools.http ? [createHttpRequest(tools.http)] : []),
    ...(tools.run_code ? [createRunCode({ workerPath: codeWorker })] : []),
    ...(tools.ask_human ? [createAskHuman()] : []),
    ...(tools.attempt_completion ? [createAttemptCompletion()] : []),
    ...(tools.memory ? createMemoryTools({ ...kept, limits: { ...MEMORY, ...tools.memory } }) : []),
  ];
}

/** From the folder of the configuration file, as each path in it. */
function databaseFile(filePath: string, database: string): string {
  const path = resolve(dirname(filePath), database);
  if (statSync(path, { throwIfNoEntry: false })?.isFile()) return path;
  throw new ConfigError(
    `${filePath}: database is ${JSON.stringify(path)}: it must be a SQLite file that is there`,
  );
}
