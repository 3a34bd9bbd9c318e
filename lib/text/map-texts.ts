type Change = (text: string) => string;

/** Each text of a JSON value, keys too, by `change`; a value in which nothing changes comes back as it is. */
export function mapTexts<Value>(value: Value, change: Change): Value;
export function mapTexts(value: unknown, change: Change): unknown {
  return someText(value, (text) => change(text) !== text) ? mapped(value, change) : value;
}

/** Makes nothing, as most values have no such text. */
function someText(value: unknown, test: (text: string) => boolean): boolean {
  if (typeof value === 'string') return test(value);
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some((one) => someText(one, test));
  for (const [key, one] of Object.entries(value)) {
    if (test(key) || someText(one, test)) return true;
  }
  return false;
}

function mapped(value: unknown, change: Change): unknown {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => mapped(one, change));
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [change(key), mapped(one, change)]),
  );
}
