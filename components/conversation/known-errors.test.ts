import { expect, test } from 'vitest';
import { adviceFor } from './known-errors.ts';

test('what the server says in English is not said twice, but in another language it is', () => {
  expect(adviceFor('model_quota', 'en')).toBeUndefined();
  expect(adviceFor('model_quota', 'zh-CN')).toBe('model_quota');
});

test('what the screen says itself always comes with advice', () => {
  expect(adviceFor('unreachable', 'en')).toBe('unreachable');
});

test('a code that we do not know has no advice', () => {
  expect(adviceFor('constructor', 'zh-CN')).toBeUndefined();
});
