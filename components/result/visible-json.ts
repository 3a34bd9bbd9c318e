import { showControlCharacters } from '#lib/format/show-control-characters';

/** The same value with hidden characters as symbols, in keys and in texts. */
export function visibleJson(value: unknown): unknown {
  if (typeof value === 'string') return showControlCharacters(value);
  if (Array.isArray(value)) return value.map(visibleJson);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, inner]) => [showControlCharacters(key), visibleJson(inner)]),
  );
}
