import { jsonText } from '#lib/json/json-text';

/** JSON as a column holds it. SQL null stands for `undefined`, the text `null` for null. */
export const toJsonColumn = (value: unknown): string | null =>
  value === undefined ? null : jsonText(value);

/** The one place that trusts what a column holds: it was written by `toJsonColumn`. */
export const fromJsonColumn = <T>(text: string): T => JSON.parse(text) as T;
