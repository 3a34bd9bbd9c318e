import fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitArray, splitObject } from './split-json.ts';

test('each element of an array comes as it was written', () => {
  expect(
    splitArray(' [ {"a": [1, "],"]} ,"x\\"]\\\\", oops , 2 ] ', 9)?.map((one) => one.trim()),
  ).toEqual(['{"a": [1, "],"]}', '"x\\"]\\\\"', 'oops', '2']);
  expect(splitArray('[]', 0)).toEqual([]);
});

test('any JSON array is split into its elements', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.constantFrom(undefined, 2), (values, space) => {
      const parts = splitArray(JSON.stringify(values, null, space), values.length);
      expect(parts?.map((part) => JSON.parse(part))).toEqual(JSON.parse(JSON.stringify(values)));
    }),
  );
});

test('what is no array, is not closed, or has too many elements gives none', () => {
  for (const text of ['', '[', ']', '{}', '[1', '["]', '[[]', '[]]', '[}]', '[1,2,3]', '[,,]']) {
    expect(splitArray(text, 2), text).toBeUndefined();
  }
});

test('the values of an object come by their keys, in any order', () => {
  expect(splitObject('{"b": [1, {"c": 2}], "a":3 }', 3)).toEqual(
    new Map([
      ['b', ' [1, {"c": 2}]'],
      ['a', '3 '],
    ]),
  );
  expect(splitObject('{}', 1)).toEqual(new Map());
  for (const text of ['', '[]', '{1}', '{"a"}', '{"a":1,}', '{"a b":1}', '{"a":1,"b":2}']) {
    expect(splitObject(text, 1), text).toBeUndefined();
  }
});

test('ten megabytes of quotes and escapes are split at once', () => {
  const text = `["${'\\\\'.repeat(3_000_000)}\\"${'\\"'.repeat(2_000_000)}"]`;
  expect(splitArray(text, 1)).toHaveLength(1);
});
