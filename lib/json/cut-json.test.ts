import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutJson, cutText, wholeBytes } from './cut-json.ts';
import { fitsJson } from './measure-json.ts';

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length;
const anyJson = fc.jsonValue().map((value): unknown => JSON.parse(JSON.stringify(value)));

test('[JS1] a value fits in exactly the bytes that its JSON text has', () => {
  fc.assert(
    fc.property(anyJson, (value) => {
      const bytes = bytesOf(value);
      expect([fitsJson(value, bytes), fitsJson(value, bytes - 1)]).toEqual([true, false]);
    }),
  );
});

test('[JS1] what lies beyond the limit is not read', () => {
  const read: string[] = [];
  const value = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`key ${n}`, n]));
  const watched = new Proxy(value, {
    get(target, key) {
      read.push(String(key));
      return Reflect.get(target, key);
    },
  });
  expect(fitsJson(watched, 40)).toBe(false);
  expect(new Set(read).size).toBeLessThan(10);
});

test('[JS2] the beginning of any value is within the limit, and all of it is when it fits', () => {
  fc.assert(
    fc.property(anyJson, fc.integer({ min: 200, max: 2_000 }), (value, max) => {
      expect(bytesOf(cutJson(value, max))).toBeLessThanOrEqual(max);
      if (bytesOf(value) <= max) expect(cutJson(value, max)).toEqual(value);
    }),
    { numRuns: 500 },
  );
});

test('[JS2] a text is cut between characters, at its start or at its end', () => {
  const text = '👩‍👩‍👧 é\u0000"'.repeat(200);
  for (let max = 50; max < 120; max += 1) {
    const [start, end] = [cutText(text, max), cutText(text, max, 'end')];
    expect(text.startsWith(start) && text.endsWith(end)).toBe(true);
    expect([start.isWellFormed(), end.isWellFormed()]).toEqual([true, true]);
    expect(Math.max(bytesOf(start), bytesOf(end))).toBeLessThanOrEqual(max);
    expect(Math.min(bytesOf(start), bytesOf(end))).toBeGreaterThan(max - 8);
  }
});

test('[JS2] a text of one byte a character is not cut within the pair at its limit', () => {
  for (let at = 40; at < 60; at += 1) {
    const text = `${'x'.repeat(at)}🙂${'y'.repeat(at)}`;
    for (const keep of ['start', 'end'] as const) {
      expect(cutText(text, 50, keep).isWellFormed()).toBe(true);
    }
  }
});

test('[JS3] every key is kept though the first value takes all the room', () => {
  const value = {
    body: 'x'.repeat(50_000),
    to: 'ada',
    list: [1, 2],
    __proto: { a: 'y'.repeat(9_000) },
  };
  const cut = cutJson(value, 2_048) as typeof value;
  expect(Object.keys(cut)).toEqual(Object.keys(value));
  expect(cut).toMatchObject({ to: 'ada', list: [1, 2] });
  expect(cut.body).toMatch(/^x{400,}…$/);
  expect(cut.__proto.a).toMatch(/^y+…$/);
});

test('[JS3] a list keeps whole items, and of a first one that is too large its beginning', () => {
  const rows = Array.from({ length: 500 }, (_, n) => ({ n, note: `row ${n}` }));
  const cut = cutJson(rows, 1_000) as typeof rows;
  expect(cut.length).toBeGreaterThan(20);
  expect(cut).toEqual(rows.slice(0, cut.length));
  expect(cutJson([{ text: 'z'.repeat(5_000) }, 1], 100)).toEqual([
    { text: expect.stringMatching(/^z+…$/) },
  ]);
});

test('[JS3] a key with a name of JavaScript stays a key', () => {
  const value: unknown = JSON.parse(`{"__proto__":{"a":1},"b":"${'x'.repeat(3_000)}"}`);
  expect(Object.keys(cutJson(value, 500) as object)).toEqual(['__proto__', 'b']);
});

test('[JS1] the size of a text is that of the text, of anything else that of its JSON', () => {
  expect([wholeBytes('é"'), wholeBytes(['é"']), wholeBytes(undefined)]).toEqual([3, 8, 0]);
});
