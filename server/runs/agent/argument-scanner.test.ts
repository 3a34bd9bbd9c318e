import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createArgumentScanner } from './argument-scanner.ts';

/** Cuts a text at places that the test chooses. */
const piecesOf = (text: string, sizes: readonly number[]): string[] => {
  const pieces: string[] = [];
  for (let at = 0, turn = 0; at < text.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces;
};

const jsonObject = fc.dictionary(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.string({ unit: 'binary', maxLength: 300 })),
  { maxKeys: 6 },
);

test('[AL20] each value comes once, as it is, however its text is cut', () => {
  fc.assert(
    fc.property(
      jsonObject,
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
      fc.constantFrom(undefined, 2),
      (object, sizes, indent) => {
        const text = JSON.stringify(object, null, indent);
        fc.pre(Object.values(object).every((value) => JSON.stringify(value).length <= 400));
        const scanner = createArgumentScanner();
        const finished: [string, unknown][] = [];
        for (const piece of piecesOf(text, sizes)) {
          scanner.push(piece);
          finished.push(...scanner.take().finished);
        }
        expect(finished).toEqual(Object.entries(JSON.parse(text)));
        expect(scanner.isBroken).toBe(false);
      },
    ),
  );
});

test('[AL22] a value that is long shows its end, whatever it is', () => {
  const list = JSON.stringify(Array.from({ length: 2_000 }, (_, n) => n));
  const scanner = createArgumentScanner();
  scanner.push(`{"list": ${list.slice(0, 3_000)}`);
  expect(scanner.take().growing).toEqual({ key: 'list', shown: `…${list.slice(2_600, 3_000)}` });
  scanner.push(`${list.slice(3_000)}, "x": {"y": "}]`);
  expect(scanner.take()).toEqual({
    finished: [['list', `…${list.slice(-400)}`]],
    growing: { key: 'x', json: '{"y": "}]' },
  });
});

test.each(['[1]', '"x"', '{{', '{"a" 1}', '{"a":1]', `{"${'k'.repeat(401)}":1}`])(
  '[AL23] %.12s is broken, and stays so',
  (text) => {
    const scanner = createArgumentScanner();
    scanner.push(`${text} {"b": 2}`);
    expect(scanner.isBroken).toBe(true);
    scanner.push('{"a": 1}');
    expect(scanner.take().growing).toBeUndefined();
  },
);
