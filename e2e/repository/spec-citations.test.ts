import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

// Rules read `- **TC1** …` in a SPEC.md; tests cite them at the start of their names: `[TC1] …`.
const rules = filesNamed(/^SPEC\.md$/).flatMap(rulesIn);
const cited = filesNamed(/\.(test|spec|contract)\.tsx?$/).flatMap(citationsIn);

test('every rule has a test', () => {
  expect(rules.filter((rule) => !cited.includes(rule))).toEqual([]);
});

test('every cited rule exists', () => {
  expect(cited.filter((rule) => !rules.includes(rule))).toEqual([]);
});

test('no two rules have the same id', () => {
  expect(rules.filter((rule, index) => rules.indexOf(rule) !== index)).toEqual([]);
});

test('one test may cite several rules, and an id in the middle of a name is not a citation', () => {
  expect(citationsIn("test('[AB1] [AB2] it holds', …); test(`[C3][C4] so does this`, …)")).toEqual([
    'AB1',
    'AB2',
    'C3',
    'C4',
  ]);
  expect(citationsIn("test('the id [AB1] is shown', …); const x = '[AB1]'; y['[AB1]']")).toEqual(
    [],
  );
  expect(citationsIn("test.each(cases)('[AB1] for %s', …)")).toEqual(['AB1']);
  expect(rulesIn('- **AB1** A rule.\n- **bold** no rule\n  - **AB2** no rule either')).toEqual([
    'AB1',
  ]);
});

function rulesIn(text: string): string[] {
  return [...text.matchAll(/^- \*\*([A-Z]+\d+)\*\*/gm)].map(([, id = '']) => id);
}

function citationsIn(text: string): string[] {
  return [...text.matchAll(/\(\s*['"`]((?:\[[A-Z]+\d+\]\s*)+)/g)].flatMap(([, run = '']) =>
    [...run.matchAll(/[A-Z]+\d+/g)].map(([id]) => id),
  );
}

/** The texts of all files of that name; tests of installed packages do not count. */
function filesNamed(name: RegExp): string[] {
  const textsIn = (folder: string): string[] =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : textsIn(path);
      // This file speaks of citations; its own are samples.
      if (path === 'e2e/repository/spec-citations.test.ts' || !name.test(entry.name)) return [];
      return [readFileSync(join(root, path), 'utf8')];
    });
  return ['app', 'components', 'lib', 'server', 'e2e']
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap(textsIn);
}
