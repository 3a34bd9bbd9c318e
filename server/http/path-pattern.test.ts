import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pathIdSchema } from '#lib/protocol/path-id';
import { parseTarget } from './parse-target.ts';
import { compilePath } from './path-pattern.ts';

test('[HT7] a pattern fits whole paths alone, letter for letter', () => {
  const match = compilePath('/v1/a.b/:id/act');
  expect(match('/v1/a.b/tc_1%40x/act')).toEqual({ id: 'tc_1@x' });
  for (const path of ['/v1/axb/tc_1/act', '/v1/a.b//act', '/v1/a.b/1/2/act', '/v1/a.b/1/act/']) {
    expect(match(path), path).toBeUndefined();
  }
});

/** The id that the router finds in the path of a client that encodes it as URLs need it. */
function reached(id: string): string | undefined {
  const { pathname } = new URL(`/v1/runs/${encodeURIComponent(id)}`, 'http://callboard.test');
  const target = parseTarget(pathname);
  return target && compilePath('/v1/runs/:id')(target.pathname)?.id;
}

const PIECES = [
  '.',
  '..',
  '/',
  '\\',
  '%',
  '%2f',
  '%2e',
  '?',
  '#',
  ' ',
  '+',
  '\u0000',
  '\n',
  '\u007f',
];
const piece = fc.oneof(
  fc.constantFrom(...PIECES),
  fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
);
const anyText = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));

test('[HT45] each id that is accepted is reached by its path', () => {
  const property = fc.property(anyText, (id) => {
    if (pathIdSchema.safeParse(id).success) expect(reached(id)).toBe(id);
  });
  fc.assert(property, { numRuns: 5_000 });
});

test('[HT45] an id is refused only when its path does not reach it, or shows what it is not', () => {
  for (const id of [
    'run_1',
    'a.b',
    '...',
    '.a',
    'über',
    '日本',
    '🦞',
    'a b',
    '50%',
    '%2f',
    'a?b#c',
  ])
    expect([pathIdSchema.safeParse(id).success, reached(id)], id).toEqual([true, id]);
  for (const id of [
    '',
    '.',
    '..',
    'a/b',
    'a\\b',
    'a\u0000',
    'a\nb',
    '\u009f',
    'a\ud800',
    'x'.repeat(129),
  ])
    expect(pathIdSchema.safeParse(id).success, id).toBe(false);
});
