type Change = (text: string) => string;

/** Each text of a JSON value, keys too, by `change`; a value in which nothing changes comes back as it is. */
export function mapTexts<Value>(value: Value, change: Change): Value;
export function mapTexts(value: unknown, change: Change): unknown {
  return someText(value, (text) => change(text) !== text) ? mapped(value, change) : value;
}

/** Makes no pairs: most values have no such text, and an object may have 60,000 names. */
function someText(value: unknown, test: (text: string) => boolean): boolean {
  if (typeof value === 'string') return test(value);
  if (Array.isArray(value)) return value.some((one) => someText(one, test));
  if (!isObject(value)) return false;
  return Object.keys(value).some((key) => test(key) || someText(value[key], test));
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
