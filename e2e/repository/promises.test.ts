import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { brokenDesigns } from '../model/design.ts';
import { GUARDS } from '../threats/guards.ts';
import { hasTest, PROMISES, readPromises } from '../threats/promises.ts';
import { MUTANTS } from '../torture/mutants/all-mutants.ts';

const root = resolve(import.meta.dirname, '../..');

const KNOWN_MUTANTS = {
  torture: MUTANTS.map(({ name }) => name),
  model: Object.keys(brokenDesigns),
  guard: GUARDS.map(({ number }) => number),
};

test('the page on promises numbers them in order', () => {
  expect(PROMISES.length).toBeGreaterThanOrEqual(40);
  expect(PROMISES.map(({ id }) => id)).toEqual(PROMISES.map((_, at) => `P${at + 1}`));
});

test.each(PROMISES)('$id has a test and a mutant: $sentence', ({ tests, mutants }) => {
  expect(tests.length).toBeGreaterThan(0);
  expect(tests.filter((one) => !hasTest(root, one))).toEqual([]);
  expect(mutants.length).toBeGreaterThan(0);
  expect(mutants.filter(({ kind, name }) => !KNOWN_MUTANTS[kind].includes(name))).toEqual([]);
});

test('a promise without a test or a mutant, and one whose test has gone, is noticed', () => {
  const page = [
    '\n## Held by\n\n- **P1** One.',
    '  - test: `e2e/repository/promises.test.ts` "no such test"',
    '- **P2** Two.\n  - torture: "no fsync", "a"\n  - guard: T1, T2\n',
  ].join('\n');
  const [first, second] = readPromises(page);
  expect(first).toMatchObject({ id: 'P1', sentence: 'One.', mutants: [] });
  expect(first?.tests.map((one) => hasTest(root, one))).toEqual([false]);
  expect(second?.tests).toEqual([]);
  expect(second?.mutants.map(({ name }) => name)).toEqual(['no fsync', 'a', 'T1', 'T2']);
});

// Rules read `- **TC1** …` in a SPEC.md; a test that holds one cites it: `[TC1] …`. A rule that is
// no promise needs no test of its own.
const rules = textsNamed(/^SPEC\.md$/).flatMap((text) =>
  [...text.matchAll(/^- \*\*([A-Z]+\d+)\*\*/gm)].map(([, id = '']) => id),
);

test('every cited rule exists, and no two have the same id', () => {
  const cited = textsNamed(/\.(test|spec|contract)\.tsx?$/).flatMap((text) =>
    [...text.matchAll(/\(\s*['"`]((?:\[[A-Z]+\d+\]\s*)+)/g)].flatMap(([, run = '']) =>
      [...run.matchAll(/[A-Z]+\d+/g)].map(([id]) => id),
    ),
  );
  expect(cited.filter((rule) => !rules.includes(rule))).toEqual([]);
  expect(rules.filter((rule, at) => rules.indexOf(rule) !== at)).toEqual([]);
});

/** The texts of all files of that name in the project. */
function textsNamed(name: RegExp): string[] {
  return ['app', 'components', 'lib', 'server', 'e2e'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => !path.includes('node_modules') && name.test(path.split('/').at(-1) ?? ''))
      .map((path) => readFileSync(join(root, folder, path), 'utf8')),
  );
}
