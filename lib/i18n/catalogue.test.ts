import { expect, test } from 'vitest';
import type { MessageTree } from './area-messages.ts';
import { catalogue } from './catalogue.ts';

function texts(tree: MessageTree, path = ''): [string, string][] {
  return Object.entries(tree).flatMap(([key, value]) =>
    typeof value === 'string' ? [[path + key, value]] : texts(value, `${path}${key}.`),
  );
}

/** Names of a message's arguments; a plural's own texts have braces too, and hold no new names. */
const placeholders = (text: string): string[] =>
  [...new Set([...text.matchAll(/\{(\w+)[,}]/g)].map(([, name]) => name ?? ''))].toSorted();

const english = new Map(texts(catalogue.en));
const chinese = new Map(texts(catalogue.zh));

test('[LN2] both languages have the same keys', () => {
  expect([...chinese.keys()].toSorted()).toEqual([...english.keys()].toSorted());
});

test('[LN2] each text has the same placeholders in both languages', () => {
  const different = [...english].filter(
    ([key, text]) => `${placeholders(text)}` !== `${placeholders(chinese.get(key) ?? '')}`,
  );
  expect(different.map(([key]) => key)).toEqual([]);
});

test('[LN6] a number that English writes with separators has them in Chinese', () => {
  const bare = [...english].filter(([key, text]) =>
    [...text.matchAll(/\{(\w+), (?:plural|number)/g)].some(([, name]) =>
      chinese.get(key)?.includes(`{${name}}`),
    ),
  );
  expect(bare.map(([key]) => key)).toEqual([]);
});

test('[LN2] no text is empty', () => {
  expect([...english, ...chinese].filter(([, text]) => text.trim() === '')).toEqual([]);
});
