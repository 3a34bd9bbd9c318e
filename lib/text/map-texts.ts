type Change = (text: string) => string;

/** Each text of a JSON value, keys too, by `change`; a value in which nothing changes comes back as it is. */
export function mapTexts<Value>(value: Value, change: Change): Value;
export function mapTexts(value: unknown, change: Change): unknown {
  return changes(value, change) ? mapped(value, change) : value;
}

/** Takes no memory: most values have no such text, each call has some, and an object may have 60,000 names. */
function changes(value: unknown, change: Change): boolean {
  if (typeof value === 'string') return change(value) !== value;
  if (!isObject(value)) return false;
  if (Array.isArray(value)) return value.some((one) => changes(one, change));
  for (const key in value) if (change(key) !== key || changes(value[key], change)) return true;
  return false;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

function mapped(value: unknown, change: Change): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((one) => mapped(one, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [change(key), mapped(one, change)]),
  );
}

const NUL = /\0/g;

/**
 * The text without what no strict reader of JSON or UTF-8 takes: halves of a character, and NUL. Each
 * becomes U+FFFD, so that people and models see that something stood there; no place in it moves.
 */
export function wellFormed(text: string): string {
  const whole = text.toWellFormed();
  return whole.includes('\0') ? whole.replace(NUL, '\ufffd') : whole;
}
