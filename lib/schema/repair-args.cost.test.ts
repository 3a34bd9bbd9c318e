import { expect, test, vi } from 'vitest';
import { CheckRun } from './check-run.ts';
import { compileToolSchema } from './compile-tool-schema.ts';
import { evaluate } from './evaluate.ts';
import { readSchema } from './read-schema.ts';
import { repairArgs } from './repair-args.ts';

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** A repair of its own, with what it costs. */
function repair(schema: unknown, value: unknown) {
  const { node } = readSchema(schema);
  const run = new CheckRun();
  const before = run.stepsLeft;
  const repaired = repairArgs(node, value, null, run);
  const { repairs, isExhausted: isOver } = run;
  return { repaired, repairs, steps: before - run.stepsLeft, isOver };
}

/** The value, and how often one of its items or keys was read, or its keys were listed. */
function counted<T extends object>(value: T) {
  const reads = { count: 0 };
  const get = (target: T, key: string | symbol): unknown => {
    if (key !== 'length' && Object.hasOwn(target, key)) reads.count += 1;
    return Reflect.get(target, key);
  };
  const ownKeys = (target: T) => {
    reads.count += 1;
    return Reflect.ownKeys(target);
  };
  return { value: new Proxy(value, { get, ownKeys }), reads };
}

const check = (a: unknown, args: object) => {
  const compiled = compileToolSchema({ type: 'object', properties: { a } });
  if (!compiled.ok) throw new Error(compiled.message);
  return compiled.check(args);
};
const TOO_MUCH = {
  ok: false,
  details: [
    {
      path: '',
      problem: 'takes too much work to check against the schema of the tool; make it smaller',
    },
  ],
};
const listOf = (count: number) => JSON.stringify(times(count, () => 1));

test('[SC17][SC30] nulls beside many keys are taken away in steps that grow with the keys', () => {
  const optional = times(600, (index) => [`n${index}`, { type: 'integer' }] as const);
  const schema = { type: 'object', properties: Object.fromEntries(optional) };
  const value = (keys: number): object => ({
    ...Object.fromEntries(optional.map(([key]) => [key, null])),
    ...Object.fromEntries(times(keys, (index) => [`k${index}`, 1])),
  });
  const { repaired, repairs, steps } = repair(schema, value(15_000));
  expect(repaired).toEqual(Object.fromEntries(times(15_000, (index) => [`k${index}`, 1])));
  expect(repairs).toHaveLength(600);
  expect(steps).toBeGreaterThan(15_000);
  expect(steps).toBeLessThan(100_000);
});

test('[SC17] a schema that says nothing of items or keys has few read, however many forms it has', () => {
  const list = counted(times(1_000, () => 1));
  const object = counted(Object.fromEntries(times(1_000, (index) => [`k${index}`, 1])));
  // To check a list, each form looks at the first item.
  const forms = times(900, () => ({ minItems: 0 }));
  for (const { value, reads } of [list, object]) {
    for (const schema of [{ allOf: forms }, { anyOf: [{ type: 'null' }, { allOf: forms }] }]) {
      repair(schema, value);
      expect(reads.count).toBeLessThan(3_000);
    }
    const { node } = readSchema({ allOf: times(900, () => ({ description: 'x' })) });
    expect(evaluate(node, value, new CheckRun())).toBe(true);
    expect(reads.count).toBeLessThan(3_000);
  }
});

test('[SC17] items and keys count, and nothing is read after the budget is used up', () => {
  const forms = (form: object) => ({ allOf: times(500, () => form) });
  const list = counted(times(20_000, () => 1));
  const object = counted(Object.fromEntries(times(15_000, (index) => [`k${index}`, 1])));
  for (const [{ value, reads }, form] of [
    [list, { items: { type: 'integer' } }],
    [object, { additionalProperties: { type: 'integer' } }],
    [object, { properties: { a: { type: 'integer' } } }],
  ] as const) {
    expect(repair(forms(form), value).isOver).toBe(true);
    expect(reads.count).toBeLessThan(1_500_000);
  }
  const { node } = readSchema(forms({ minProperties: 1 }));
  expect(evaluate(node, object.value, new CheckRun())).toBe(false);
});

test('[SC17] places count by their length, since each repair names its own', () => {
  const schema = { additionalProperties: { items: { type: 'integer' } } };
  const { repairs, isOver } = repair(schema, {
    ['k'.repeat(100_000)]: times(30_000, () => '1'),
  });
  expect(isOver).toBe(true);
  expect(repairs.length).toBeLessThan(30);
});

test('[SC17] the names of objects that are compared count before they are sorted', () => {
  const { value, reads } = counted(Object.fromEntries(times(20_000, (index) => [`k${index}`, 1])));
  const nested = times(50, () => 0).reduce<unknown>((inner) => [inner], value);
  const $defs = { u: { uniqueItems: true, items: { $ref: '#/$defs/u' } } };
  const { node } = readSchema({ $defs, $ref: '#/$defs/u' });
  expect(evaluate(node, nested, new CheckRun())).toBe(false);
  expect(reads.count).toBeLessThan(100_000);
});

test('[SC17] a form that is only tried compares each type once, and lists no names', () => {
  const names = times(1_000, (index) => [`p${index}`, {}] as const);
  const form = { properties: Object.fromEntries(names), additionalProperties: false };
  const { node } = readSchema({ minContains: 0, contains: form });
  const { properties } = node.contains ?? {};
  const listed = properties && vi.spyOn(properties, 'keys');
  expect(
    evaluate(
      node,
      times(50, () => ({ z: 1 })),
      new CheckRun(),
    ),
  ).toBe(true);
  expect(listed).not.toHaveBeenCalled();
  expect(readSchema({ type: times(4_000, () => 'string') }).node.types).toEqual(['string']);
});

test('[SC31] a check, its repair and the check after it have one budget', () => {
  const list = listOf(50_000);
  const items = { type: 'array', items: { allOf: times(3, () => ({ type: 'integer' })) } };
  const schema = { type: 'object', properties: { a: items, b: { type: 'integer' } } };
  const compiled = compileToolSchema(schema);
  if (!compiled.ok) throw new Error(compiled.message);
  const a: unknown = JSON.parse(list);
  expect(compiled.check({ a, b: 1 }).ok).toBe(true);
  expect(compiled.check({ a, b: '1' }).ok).toBe(false);
});

test('[SC31] a repair that takes too much is refused like a check that does', () => {
  const wide = { type: 'array', minItems: 500_000, items: { type: 'integer' } };
  expect(check({ anyOf: times(200, () => wide) }, { a: listOf(100_000) })).toEqual(TOO_MUCH);
  const plain = { anyOf: times(400, () => ({ type: 'array', minItems: 500_000 })) };
  expect(check(plain, { a: listOf(100_000) })).toEqual({
    ok: false,
    details: [{ path: 'a', problem: 'must match one of the allowed forms, was a list of 100000' }],
  });
});

test('[SC31] many small repairs stay within the budget', () => {
  const lists = { type: 'array', items: { type: 'array', items: { type: 'boolean' } } };
  const result = check(lists, { a: times(10_000, () => '["true"]') });
  expect(result).toMatchObject({ ok: true, args: { a: times(10_000, () => [true]) } });
});
