import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { GUARDS } from '../threats/guards.ts';
import { PROMISES } from '../threats/promises.ts';

const root = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/threats.md'), 'utf8');

const AT_ONCE = expect.stringMatching(/\.test\.tsx?$/);

/** The experiments and threats that the agent is held to. */
const NUMBERS = [
  ...numbered('E', 1, 14),
  ...numbered('T', 1, 36).map(twoDigits),
  ...[numbered('T', 37, 50), numbered('T', 69, 85), numbered('T', 97, 117)].flat(),
  ...[numbered('T', 137, 144), numbered('T', 145, 152)].flat(),
];

/** A test has the numbers of its threats in its title: `[AL5] T145: …`, `T98 T99: …`, `[DE4] (T85) …`. */
const titles = testFiles().flatMap((file) =>
  titlesIn(readFileSync(join(root, file), 'utf8')).map((title) => ({ file, title })),
);

test('the page on threats has each number once, in order', () => {
  expect(rowsOf('Held by tests').map(([number]) => number)).toEqual(NUMBERS);
});

test.each(NUMBERS)('the page names tests and guards of %s, or says why it has none', (number) => {
  const files = titles
    .filter(({ title }) => new RegExp(`\\b${number}\\b`).test(title))
    .map(({ file }) => file);
  const [, threat = '', heldBy = '', guard = ''] =
    rowsOf('Held by tests').find(([first]) => first === number) ?? [];
  expect(threat.length).toBeGreaterThan(10);
  expect(codesIn(heldBy)).toEqual([...new Set(files)].sort());
  const guards = GUARDS.filter((one) => one.number === number).map(({ file }) => file);
  expect(codesIn(guard)).toEqual(guards);
  const [, why = ''] = rowsOf('Not held, or otherwise').find(([first]) => first === number) ?? [];
  if (files.length === 0 || guards.length === 0) expect(why.length).toBeGreaterThan(40);
});

test.each(GUARDS)('the guard of $number stands once in $file', ({ number, file, code, broken }) => {
  expect(readFileSync(join(root, file), 'utf8').split(code)).toHaveLength(2);
  expect(broken).not.toBe(code);
  const promised = PROMISES.find(({ id }) => id === number);
  // Only a test that runs without a build notices it.
  if (promised) {
    expect(promised.tests.map(({ file: of }) => of)).toContainEqual(AT_ONCE);
    return;
  }
  expect(
    titles
      .filter(({ title }) => new RegExp(`\\b${number}\\b`).test(title))
      .map(({ file: of }) => of),
  ).toContainEqual(AT_ONCE);
});

test('what is held otherwise is a threat of the page', () => {
  const numbers = rowsOf('Not held, or otherwise').map(([number]) => number);
  expect(numbers.filter((number) => !NUMBERS.includes(number ?? ''))).toEqual([]);
});

test('a number in the middle of a word, or outside of a title, names no test', () => {
  const source = "test('T99: it holds', () => {}); const x = 'T98'; test.each([1])('T97 %s', f)";
  expect(titlesIn(source)).toEqual(['T99: it holds', 'T97 %s']);
  expect(titlesIn("test.each([\n  ['a', (1)],\n])(\n  'T96 of %s',\n  f)")).toEqual(['T96 of %s']);
  expect(titlesIn("test.each(CASES)(\n  'T95 of %s',\n  f)")).toEqual(['T95 of %s']);
});

function numbered(letter: string, from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, at) => `${letter}${from + at}`);
}

/** The first threats are written T01 to T09. */
function twoDigits(number: string): string {
  return number.replace(/^T(\d)$/, 'T0$1');
}

/** The cells of a table below a heading, without its head. */
function rowsOf(heading: string): string[][] {
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const [table = ''] = section.split('\n## ');
  const rows = table.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

function codesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

/** The texts that begin the arguments of a call of `test`, `askingTest` and the like, also behind `each`. */
function titlesIn(source: string): string[] {
  const calls = /(?:\b(?:test|\w+Test)(?:\.\w+)?\(|\)\()\s*/g;
  return [...source.matchAll(calls)].flatMap((call) => {
    const text = /^(['"`])((?:\\.|(?!\1).)*)\1/s.exec(source.slice(call.index + call[0].length));
    return text?.[2] === undefined ? [] : [text[2]];
  });
}

function testFiles(): string[] {
  const filesIn = (folder: string): string[] =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesIn(path);
      // The samples of this file are no tests.
      if (path === 'e2e/repository/threats.test.ts') return [];
      return /\.(?:test|spec)\.tsx?$/.test(path) ? [path] : [];
    });
  return ['app', 'components', 'e2e', 'lib', 'server'].flatMap(filesIn).sort();
}
