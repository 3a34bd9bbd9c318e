import type { AnyServerTool } from '../define-tool.ts';
import { createCalculationEval } from './calculation-eval.ts';
import { createDatabaseQuery } from './database-query.ts';
import type { Fetch } from './fetch-json.ts';
import { createWeatherQuery } from './weather-query.ts';

export interface BuiltinToolsDeps {
  readonly fetch: Fetch;
  /** Addresses of Open-Meteo or a stand-in; the public ones when not given. */
  readonly weather: {
    readonly forecast_url?: string | undefined;
    readonly geocoding_url?: string | undefined;
  };
  readonly database: {
    readonly path: string;
    /** It is the workbench's own history, of which some tables are secret. */
    readonly isOwnStore: boolean;
    readonly workerPath: string;
  };
}

/** Tables of our own store that hold secrets or hashes of them, or what administrators alone read. */
const SECRET_TABLES = ['sessions', 'clients', 'meta', 'idempotency', 'tokens', 'audit', 'kept'];

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
      about: isOwnStore
        ? "this workbench's own history (tables tool_calls, runs, messages)."
        : "the operator's database.",
      workerPath,
    }),
    createCalculationEval(),
  ];
}
