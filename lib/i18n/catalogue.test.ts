import { describe, expect, test } from 'vitest';
import { catalogue } from './catalogue.ts';
import enDevice from './messages/device/en.json';
import zhDevice from './messages/device/zh.json';
import enServed from './messages/served/en.json';
import zhServed from './messages/served/zh.json';

type Messages = string | MessageTree | readonly Messages[];

interface MessageTree {
  readonly [key: string]: Messages;
}

const texts = (tree: MessageTree | readonly Messages[], path = ''): [string, string][] =>
  Object.entries(tree).flatMap(([key, value]) =>
    typeof value === 'string' ? [[path + key, value]] : texts(value, `${path}${key}.`),
  );

/** Names of a message's arguments; a plural's own texts have braces too, and hold no new names. */
const placeholders = (text: string): string[] =>
  [...new Set([...text.matchAll(/\{(\w+)[,}]/g)].map(([, name]) => name ?? ''))].toSorted();

describe.each([
  ['workbench', catalogue.en, catalogue.zh],
  ['device', enDevice, zhDevice],
  ['served', enServed, zhServed],
])('[LN2] [DP17] the two languages of the messages of %s', (_name, en, zh) => {
  const english = new Map(texts(en));
  const chinese = new Map(texts(zh));

  test('have the same keys in the same order', () => {
    expect([...chinese.keys()]).toEqual([...english.keys()]);
  });

  test('have the same placeholders in each text, and no text is empty', () => {
    const different = [...english].filter(
      ([key, text]) => `${placeholders(text)}` !== `${placeholders(chinese.get(key) ?? '')}`,
    );
    expect(different).toEqual([]);
    expect([...english, ...chinese].filter(([, text]) => text.trim() === '')).toEqual([]);
  });

  test('have a colon of their own before a value', () => {
    expect([...chinese].filter(([, text]) => /:\{\w+\}/.test(text))).toEqual([]);
  });

  test('[LN6] have separators in the same numbers', () => {
    const bare = [...english].filter(([key, text]) =>
      [...text.matchAll(/\{(\w+), (?:plural|number)/g)].some(([, name]) =>
        chinese.get(key)?.includes(`{${name}}`),
      ),
    );
    expect(bare).toEqual([]);
  });
});
