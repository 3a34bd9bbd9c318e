import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const page = read('docs/write-a-client.md');

/** The block of code behind the link to a file. */
function blockOf(file: string): string | undefined {
  const [, behind = ''] = page.split(`[\`${file}\`](../${file})\n`);
  return /^\n```\w+\n(.*?)^```$/ms.exec(behind)?.[1];
}

const linked = [...page.matchAll(/\(\.\.\/(examples\/[^)]+)\)/g)].map(([, file = '']) => file);

test('the page on writing a client has a way for each kind of program', () => {
  const headings = [...page.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
  expect(headings).toEqual(['Tag', 'React', 'Node', 'Python', 'curl', 'Kotlin', 'Pairing']);
  expect(linked).toHaveLength(6);
});

test.each(linked)('the page on writing a client shows %s as it is', (file) => {
  expect(blockOf(file)).toBe(read(file));
});

test('each of its programs is run by a test', () => {
  const tests = ['e2e/examples.spec.ts', 'e2e/readme.spec.ts'].map(read).join('\n');
  expect(linked.filter((file) => !tests.includes(file))).toEqual([]);
});
