import type { AnyServerTool } from '../define-tool.ts';
import type { ToolsConfig } from '../tools-config.ts';
import { createCalculationEval } from './calculate.ts';
import { createDatabaseQuery } from './database-query.ts';
import type { OwnRows } from './query-message.ts';
import { createWeatherQuery, type Fetch } from './weather-query.ts';

export interface BuiltinToolsDeps {
  readonly fetch: Fetch;
  readonly weather: ToolsConfig['weather'];
  readonly database: {
    readonly path: string;
    /** It is the workbench's own history, of which some tables are secret. */
    readonly isOwnStore: boolean;
    readonly workerPath: string;
  };
}

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

/** The server's own tools, listed by hand. */
export function createBuiltinTools({
  fetch,
  weather,
  database,
}: BuiltinToolsDeps): AnyServerTool[] {
  const { path, isOwnStore, workerPath } = database;
  return [
    createWeatherQuery({
      fetch,
      weatherBaseUrl: weather.forecast_url ?? 'https://api.open-meteo.com',
      geocodingBaseUrl: weather.geocoding_url ?? 'https://geocoding-api.open-meteo.com',
    }),
    createDatabaseQuery({
      databasePath: path,
      secretTables: isOwnStore ? SECRET_TABLES : [],
      ...(isOwnStore ? { rowsOf } : {}),
      about: isOwnStore
        ? "this workbench's own history (tables tool_calls, runs, messages)."
        : "the operator's database.",
      workerPath,
    }),
    createCalculationEval(),
  ];
}
