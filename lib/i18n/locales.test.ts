import { expect, test } from 'vitest';
import { joinSentences, negotiateLocale, toTheme } from './locales.ts';

test.each([
  ['zh', 'en-US,en;q=0.9', 'zh'],
  ['en', 'zh-CN', 'en'],
  ['xx', 'zh-CN', 'zh'],
  [undefined, 'zh-TW,zh;q=0.9,en;q=0.8', 'zh'],
  [undefined, 'fr-FR,fr;q=0.9,zh;q=0.4,en;q=0.7', 'en'],
  [undefined, 'EN-gb', 'en'],
  [undefined, 'zh;q=0,fr', 'en'],
  [undefined, 'de, *;q=0.1', 'en'],
  [undefined, 'zh;q=nonsense', 'en'],
  [undefined, '', 'en'],
  [undefined, null, 'en'],
] as const)('[LN1] choice %s with browser languages %s is %s', (chosen, languages, expected) => {
  expect(negotiateLocale(chosen, languages)).toBe(expected);
});

test('[LN1] an unknown theme is the system’s', () => {
  expect([toTheme('dark'), toTheme('pink'), toTheme(undefined)]).toEqual([
    'dark',
    'system',
    'system',
  ]);
});

test('sentences have a space between them, but not in Chinese', () => {
  expect(joinSentences(['It failed.', null, 'Try again.'], 'en')).toBe('It failed. Try again.');
  expect(joinSentences(['调用失败。', null, '请重试。'], 'zh-CN')).toBe('调用失败。请重试。');
});
