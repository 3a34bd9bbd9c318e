const SHOWN_CHARS = 40;

/** A value in a few words, for "must be boolean, was …". Never longer than about 60 characters. */
export function describeValue(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'missing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return `the text ${JSON.stringify(shorten(value))}`;
  if (typeof value === 'number') return `the number ${value}`;
  return String(value);
}

/** At most 40 characters, never half of a pair. */
export function shorten(text: string): string {
  if (text.length <= SHOWN_CHARS) return text;
  return `${text.slice(0, SHOWN_CHARS).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
