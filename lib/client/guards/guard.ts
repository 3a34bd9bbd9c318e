import { isRecord } from '../../json/is-record.ts';

/** A guard gives it for a value that it does not take. */
export const REFUSED = Symbol('refused');

/**
 * A check of a parsed JSON value, small enough for a page's first load. It gives what the zod
 * schema of the same shape would: a copy with the known fields alone, or a refusal.
 */
export type Guard<Value> = (value: unknown) => Value | typeof REFUSED;

export const text: Guard<string> = (value) => (typeof value === 'string' ? value : REFUSED);

/** JSON has `1e999`, which is read as infinite. */
export const number: Guard<number> = (value) =>
  typeof value === 'number' && Number.isFinite(value) ? value : REFUSED;

export const positiveInteger: Guard<number> = (value) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : REFUSED;

export const flag: Guard<boolean> = (value) => (typeof value === 'boolean' ? value : REFUSED);

export const anything: Guard<unknown> = (value) => value;

export const oneOf =
  <const Value extends string | boolean>(...values: readonly Value[]): Guard<Value> =>
  (value) =>
    values.find((one) => one === value) ?? REFUSED;

/** Undefined where the field is not there; `null` is a value, and refused by most. */
export const optional =
  <Value>(guard: Guard<Value>): Guard<Value | undefined> =>
  (value) =>
    value === undefined ? undefined : guard(value);

export const listOf =
  <Value>(guard: Guard<Value>): Guard<Value[]> =>
  (value) => {
    if (!Array.isArray(value)) return REFUSED;
    const read = value.map(guard);
    return read.some((one) => one === REFUSED) ? REFUSED : (read as Value[]);
  };

/** Takes any keys. `__proto__` is dropped: copied in the usual way it would change the copy itself. */
export const recordOf =
  <Value>(guard: Guard<Value>): Guard<Record<string, Value>> =>
  (value) => {
    if (!isRecord(value)) return REFUSED;
    const read = Object.entries(value)
      .filter(([key]) => key !== '__proto__')
      .map(([key, one]) => [key, guard(one)] as const);
    return read.some(([, one]) => one === REFUSED)
      ? REFUSED
      : (Object.fromEntries(read) as Record<string, Value>);
  };

/** An object with these fields; others are left out. */
export const shape =
  <Value>(fields: { readonly [Name in keyof Value]-?: Guard<Value[Name]> }): Guard<Value> =>
  (value) => {
    if (!isRecord(value)) return REFUSED;
    const read: Record<string, unknown> = {};
    for (const [name, guard] of Object.entries<Guard<unknown>>(fields)) {
      const field = guard(value[name]);
      if (field === REFUSED) return REFUSED;
      if (field !== undefined) read[name] = field;
    }
    return read as Value;
  };
