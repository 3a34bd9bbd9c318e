import fc from 'fast-check';
import { expect, test } from 'vitest';
import { beyondLimits, parseJson } from './parse-json.ts';

const limits = { maxDepth: 64, maxNodes: 1_000 };

test('[JS4] depth is checked before parsing', () => {
  expect(beyondLimits('['.repeat(5_000), limits)).toBe('depth');
  expect(beyondLimits('{"a":'.repeat(65), limits)).toBe('depth');
  expect(beyondLimits(`${'['.repeat(64)}${']'.repeat(64)}`, limits)).toBe(undefined);
});

test('[JS4] the count of values is checked before parsing', () => {
  expect(beyondLimits(`[${'1,'.repeat(2_000)}1]`, limits)).toBe('nodes');
  expect(beyondLimits(`[${'[],'.repeat(600)}1]`, limits)).toBe('nodes');
});

test('[JS4] brackets and commas inside strings do not count', () => {
  for (const text of [
    '['.repeat(100),
    ','.repeat(2_000),
    '"['.repeat(100),
    '\\',
    '\\"[',
    `\\\\${'['.repeat(99)}`,
  ]) {
    const json = JSON.stringify({ [text]: [text, text] });
    expect(parseJson(json, limits), json.slice(0, 40)).toEqual({
      ok: true,
      value: { [text]: [text, text] },
    });
  }
});

test('[JS4] what is within the limits parses as JSON.parse has it', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (text) => {
      fc.pre(!text.includes('__proto__'));
      expect(parseJson(text, { maxDepth: 64, maxNodes: 100_000 })).toEqual({
        ok: true,
        value: JSON.parse(text),
      });
    }),
  );
});

test('[JS5] a key __proto__ is refused however it is spelled, the text is not', () => {
  for (const text of [
    '{"__proto__":1}',
    '[{"a":{"\\u005f_proto__":{}}}]',
    '{"__prot\\u006F__":1}',
  ]) {
    expect(parseJson(text, limits), text).toMatchObject({ ok: false });
  }
  expect(parseJson('{"a":"__proto__"}', limits)).toEqual({ ok: true, value: { a: '__proto__' } });
});

test('[JS8] halves of characters and NUL become U+FFFD, in texts and keys', () => {
  const odd = { 'k\udc00': 'party \ud83c', nul: ['a\0b'], pair: '\ud83c\udf89', path: 'C:\\ud83c' };
  for (const json of [JSON.stringify(odd), JSON.stringify(odd).replace('🎉', '\\uD83C\\uDF89')]) {
    expect(parseJson(json, limits)).toEqual({
      ok: true,
      value: { 'k\ufffd': 'party \ufffd', nul: ['a\ufffdb'], pair: '🎉', path: 'C:\\ud83c' },
    });
  }
});

test('[JS6] what is not JSON is refused with a message', () => {
  for (const text of ['', '{', 'nope', '"', ']]]', '{"a":}', '"\\']) {
    const parsed = parseJson(text, limits);
    expect(parsed.ok, text).toBe(false);
    expect(parsed.ok ? '' : parsed.message.length).toBeGreaterThan(10);
  }
});
