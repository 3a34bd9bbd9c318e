/** The same fields, none of them with `undefined`. */
type Given<T> = { [K in keyof T]?: NonNullable<T[K]> | (T[K] & null) };

/**
 * The fields that have a value: `{ ...given({ note }) }` has no `note` where it
 * is undefined. For optional fields under `exactOptionalPropertyTypes`. `null` is a value.
 */
export function given<T extends object>(fields: T): Given<T> {
  const kept: Given<T> = {};
  for (const key in fields) {
    const value = fields[key];
    if (value !== undefined) kept[key] = value;
  }
  return kept;
}
