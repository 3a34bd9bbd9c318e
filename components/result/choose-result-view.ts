import { isRecord } from '#lib/json/is-record';
import { own } from '#lib/util/own';

/** How a result is shown: the first of these that fits its shape (rules CD10, CD11). */
export type ResultView =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'scalar'; readonly value: number | boolean | null }
  | { readonly kind: 'position'; readonly position: Position }
  | { readonly kind: 'weather'; readonly weather: Weather; readonly value: unknown }
  | { readonly kind: 'table'; readonly table: Table; readonly value: unknown }
  | { readonly kind: 'facts'; readonly facts: readonly Fact[]; readonly value: unknown }
  | { readonly kind: 'json'; readonly value: unknown };

/** WGS 84, as browsers give it. */
export interface Position {
  readonly latitude: number;
  readonly longitude: number;
  readonly accuracy: number | null;
  readonly altitude: number | null;
}

export interface Weather {
  readonly place: string | null;
  readonly conditions: string | null;
  readonly temperature: string;
  readonly feelsLike: string | null;
  readonly humidity: string | null;
  readonly wind: string | null;
  readonly forecast: Table | null;
}

export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

export interface Fact {
  readonly name: string;
  readonly value: unknown;
}

type Json = Readonly<Record<string, unknown>>;

export function chooseResultView(value: unknown): ResultView {
  if (value === undefined) return { kind: 'nothing' };
  if (typeof value === 'string') return { kind: 'text', text: value };
  if (value === null || typeof value === 'number' || typeof value === 'boolean') {
    return { kind: 'scalar', value };
  }
  if (Array.isArray(value)) {
    const table = rowsToTable(value);
    return table ? { kind: 'table', table, value } : { kind: 'json', value };
  }
  return isRecord(value) ? viewOfObject(value) : { kind: 'json', value };
}

function viewOfObject(value: Json): ResultView {
  const position = toPosition(value);
  if (position) return { kind: 'position', position };
  const weather = toWeather(value);
  if (weather) return { kind: 'weather', weather, value };
  const table = toTable(value);
  if (table) return { kind: 'table', table, value };
  const facts = toFacts(value);
  return facts ? { kind: 'facts', facts, value } : { kind: 'json', value };
}

const isScalar = (value: unknown): boolean =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value);

const numberOrNull = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;

const textOrNull = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;

function toPosition(value: Json): Position | null {
  const inner = isRecord(value.coords) ? value.coords : value;
  const latitude = numberOrNull(inner.latitude);
  const longitude = numberOrNull(inner.longitude);
  if (latitude === null || longitude === null) return null;
  if (Math.abs(latitude) > 90 || Math.abs(longitude) > 180) return null;
  // A place with weather also has coordinates; then the weather is the point.
  if (!('accuracy' in inner) && Object.keys(inner).length > 4) return null;
  return {
    latitude,
    longitude,
    accuracy: numberOrNull(inner.accuracy),
    altitude: numberOrNull(inner.altitude),
  };
}

function toWeather(value: Json): Weather | null {
  const now = isRecord(value.current) ? value.current : value;
  const temperature = withUnit(now, 'temperature', '°C');
  const humidity = withUnit(now, 'humidity', '%');
  const wind = withUnit(now, 'wind_speed', 'km/h') ?? withUnit(now, 'wind', 'km/h');
  const conditions =
    textOrNull(now.conditions) ?? textOrNull(now.condition) ?? textOrNull(now.description);
  if (temperature === null || (humidity === null && wind === null && conditions === null)) {
    return null;
  }
  return {
    place: placeOf(value),
    conditions,
    temperature,
    feelsLike: withUnit(now, 'apparent_temperature', '°C') ?? withUnit(now, 'feels_like', '°C'),
    humidity,
    wind,
    forecast: Array.isArray(value.forecast) ? rowsToTable(value.forecast) : null,
  };
}

/** Suffixes that names of measures carry, and the unit that each means. */
const UNITS: readonly (readonly [string, string])[] = [
  ['_c', '°C'],
  ['_f', '°F'],
  ['_percent', '%'],
  ['_kmh', 'km/h'],
  ['_km_h', 'km/h'],
  ['_ms', 'm/s'],
  ['_mph', 'mph'],
];

function withUnit(value: Json, name: string, unit: string): string | null {
  const plain = numberOrNull(value[name]);
  if (plain !== null) return `${plain} ${unit}`;
  for (const [suffix, unit] of UNITS) {
    const number = numberOrNull(value[name + suffix]);
    if (number !== null) return `${number} ${unit}`;
  }
  return null;
}

function placeOf(value: Json): string | null {
  const { location, place, city, name } = value;
  if (isRecord(location)) {
    const parts = [textOrNull(location.name), textOrNull(location.country)].filter(Boolean);
    return parts.length > 0 ? parts.join(', ') : null;
  }
  if (isRecord(place)) return placeOf(place);
  return textOrNull(location) ?? textOrNull(place) ?? textOrNull(city) ?? textOrNull(name);
}

function toTable(value: Json): Table | null {
  const { columns, rows } = value;
  if (!Array.isArray(rows)) return null;
  if (!Array.isArray(columns)) return Object.keys(value).length <= 3 ? rowsToTable(rows) : null;
  const names = columns.map(columnName).filter((name) => name !== null);
  if (names.length === 0 || names.length < columns.length) return null;
  if (rows.every(Array.isArray)) return { columns: names, rows };
  return rows.every(isRecord) ? tableOf(names, rows) : null;
}

/** A text, or an object named by one. Nothing else is made a name: what came is data (RV1). */
const columnName = (column: unknown): string | null => {
  const name = isRecord(column) ? own(column, 'name') : column;
  return typeof name === 'string' ? name : null;
};

/** A table of rows that have little in common has mostly empty cells, and may have millions. */
const MAX_CELLS = 500_000;

const tableOf = (columns: readonly string[], rows: readonly Json[]): Table | null =>
  columns.length * rows.length > MAX_CELLS
    ? null
    : { columns, rows: rows.map((row) => columns.map((name) => own(row, name))) };

/** An array of flat objects; the columns in the order in which they first appear. */
function rowsToTable(rows: readonly unknown[]): Table | null {
  if (rows.length === 0 || !rows.every(isRecord)) return null;
  const columns = new Set<string>();
  for (const row of rows) {
    for (const [key, value] of Object.entries(row)) {
      if (!isScalar(value) && value !== undefined) return null;
      columns.add(key);
    }
  }
  if (columns.size === 0) return null;
  return tableOf([...columns], rows);
}

const MAX_FACTS = 24;
const MAX_FACT_CHARS = 200;

/** Few short values, at most one level deep: a list of facts reads better than a tree. */
function toFacts(value: Json): readonly Fact[] | null {
  if (Object.keys(value).length > MAX_FACTS) return null;
  const facts: Fact[] = [];
  for (const [name, inner] of Object.entries(value)) {
    const entries = isRecord(inner)
      ? Object.entries(inner).map(([key, leaf]) => [`${name}.${key}`, leaf] as const)
      : [[name, inner] as const];
    for (const [key, leaf] of entries) {
      if (!isFactValue(leaf)) return null;
      facts.push({ name: key, value: leaf });
    }
  }
  return facts.length > 0 && facts.length <= MAX_FACTS ? facts : null;
}

const isFactValue = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length <= 12 && value.every(isScalar)
    : isScalar(value) && (typeof value !== 'string' || value.length <= MAX_FACT_CHARS);
