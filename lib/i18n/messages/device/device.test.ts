import { expect, test } from 'vitest';
import type { MessageTree } from '../../area-messages.ts';
import { en } from './en.ts';
import { zh } from './zh.ts';

const texts = (tree: MessageTree, path = ''): [string, string][] =>
  Object.entries(tree).flatMap(([key, value]) =>
    typeof value === 'string' ? [[path + key, value]] : texts(value, `${path}${key}.`),
  );
const placeholders = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String).toSorted();

test('[DP17] both languages of the page have the same texts, with the same placeholders', () => {
  const chinese = new Map(texts(zh));
  const english = texts(en);
  expect([...chinese.keys()].toSorted()).toEqual(english.map(([key]) => key).toSorted());
  for (const [key, text] of english) {
    expect(placeholders(chinese.get(key) ?? ''), key).toEqual(placeholders(text));
    expect(text.trim(), key).not.toBe('');
  }
});
