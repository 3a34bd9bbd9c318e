import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { CHECKED_KEYWORDS, REFUSED_KEYWORDS } from '#lib/schema/read-schema';

const root = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/tool-schemas.md'), 'utf8');

/** Names in code marks in the tables of one section. */
const namesIn = (section: string): string[] => {
  const text = page.split(`## ${section}\n`)[1]?.split('\n## ')[0] ?? '';
  const rows = text.split('\n').filter((line) => line.startsWith('| '));
  return rows.flatMap((row) => [...row.matchAll(/`([$\w]+)`/g)].map(([, name = '']) => name));
};

test('the page on schemas lists each keyword that is checked', () => {
  expect(CHECKED_KEYWORDS.filter((name) => !namesIn('Checked').includes(name))).toEqual([]);
});

test('the page on schemas lists each keyword that is refused', () => {
  const missing = [...REFUSED_KEYWORDS.keys()].filter((name) => !namesIn('Refused').includes(name));
  expect(missing).toEqual([]);
});
