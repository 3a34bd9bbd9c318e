import { expect, test } from 'vitest';
import { joinSentences } from './join-sentences.ts';

test('sentences have a space between them, but not in Chinese', () => {
  expect(joinSentences(['It failed.', null, 'Try again.'], 'en')).toBe('It failed. Try again.');
  expect(joinSentences(['调用失败。', null, '请重试。'], 'zh-CN')).toBe('调用失败。请重试。');
});
