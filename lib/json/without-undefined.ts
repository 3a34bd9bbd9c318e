/**
 * A value as JSON text has it: keys of plain objects that hold `undefined` are left out. All else stays
 * as it is, so that what is no JSON is still seen as such.
 */
export function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (!isPlain(value)) return value;
  const given = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(given.map(([key, one]) => [key, withoutUndefined(one)]));
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
