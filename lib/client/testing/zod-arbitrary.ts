import fc from 'fast-check';
import type { z } from 'zod';

/** Texts that are also keys which objects inherit, or that change an object. */
const odd = fc.constantFrom('__proto__', 'constructor', 'toString', '', 'type', 'id');
const words = fc.oneof(fc.string({ maxLength: 8 }), odd);
const keys = fc.oneof({ weight: 9, arbitrary: fc.string({ maxLength: 8 }) }, odd);

/** JSON objects, also with the key `__proto__` of their own, as a parser makes them. */
export const jsonObject = (value: fc.Arbitrary<unknown>): fc.Arbitrary<Record<string, unknown>> =>
  fc.array(fc.tuple(keys, value), { maxLength: 4 }).map((entries) => Object.fromEntries(entries));

/** Values that the schema takes, for the kinds of schemas that messages to a client are made of. */
export function arbitraryOf(schema: z.core.$ZodType): fc.Arbitrary<unknown> {
  const { def } = schema._zod as z.core.$ZodTypes['_zod'];
  switch (def.type) {
    case 'string':
      return words;
    case 'number':
      return def.checks?.length
        ? fc.integer({ min: 1 })
        : fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'boolean':
      return fc.boolean();
    case 'unknown':
      return fc.jsonValue({ maxDepth: 2 });
    case 'literal':
      return fc.constantFrom(...def.values);
    case 'enum':
      return fc.constantFrom(...Object.values(def.entries));
    case 'optional':
      return fc.option(arbitraryOf(def.innerType), { nil: undefined });
    case 'array':
      return fc.array(arbitraryOf(def.element), { maxLength: 3 });
    case 'record':
      return jsonObject(arbitraryOf(def.valueType));
    case 'object':
      return fc.record(mapValues(def.shape, arbitraryOf));
    case 'union':
      return fc.oneof(...def.options.map(arbitraryOf));
    default:
      throw new Error(`no values are made for a schema of ${def.type} yet`);
  }
}

const mapValues = <Value, Result>(
  fields: Readonly<Record<string, Value>>,
  map: (value: Value) => Result,
): Record<string, Result> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, map(value)]));
