import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pathIdSchema } from '#lib/protocol/path-id';
import { createRouteTable, parseTarget } from './route-table.ts';

const route = (method: string, path: string) => ({ method, path });

test('[HT7] a pattern fits whole paths alone, letter for letter', () => {
  const find = createRouteTable([route('POST', '/v1/a.b/:id/act')]);
  expect(find('POST', '/v1/a.b/tc_1%40x/act')).toMatchObject({ params: { id: 'tc_1@x' } });
  for (const path of [
    '/v1/axb/tc_1/act',
    '/v1/a.b//act',
    '/v1/a.b/1/2/act',
    '/v1/a.b/1/act/',
    '/v1/a%2eb/1/act',
  ]) {
    expect(find('POST', path), path).toEqual({ route: undefined, methods: [] });
  }
});

test('[HT7] a path answers each of its methods, HEAD as GET, and names them for any other', () => {
  const [list, start] = [route('GET', '/v1/runs'), route('POST', '/v1/runs')];
  const find = createRouteTable([list, start, route('GET', '/v1/runs/:id')]);
  expect(find('GET', '/v1/runs').route).toBe(list);
  expect(find('HEAD', '/v1/runs').route).toBe(list);
  expect(find('POST', '/v1/runs').route).toBe(start);
  expect(find('PUT', '/v1/runs')).toEqual({ route: undefined, methods: ['GET', 'POST'] });
  expect(find('POST', '/v1/runs/a')).toEqual({ route: undefined, methods: ['GET'] });
});

test('[HT7] of two patterns that fit, the first has the path, whole or with parts that vary', () => {
  const [own, any, later] = [route('GET', '/v1/a'), route('GET', '/v1/:id'), route('GET', '/v1/b')];
  const find = createRouteTable([own, any, later]);
  expect(find('GET', '/v1/a').route).toBe(own);
  expect(find('GET', '/v1/b')).toEqual({ route: any, params: { id: 'b' } });
});

const findRun = createRouteTable([route('GET', '/v1/runs/:id')]);

/** The id that the router finds in the path of a client that encodes it as URLs need it. */
function reached(id: string): string | undefined {
  const { pathname } = new URL(`/v1/runs/${encodeURIComponent(id)}`, 'http://callboard.test');
  const target = parseTarget(pathname);
  const match = target && findRun('GET', target.pathname);
  return match?.route && match.params.id;
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
