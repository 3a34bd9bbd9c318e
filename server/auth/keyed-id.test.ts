import { expect, test } from 'vitest';
import { keyedId } from './secrets.ts';

test('an id is the same for the same parts, and another for another key, prefix or part', () => {
  const id = keyedId('key', 'agui', ['operator', 'a']);
  expect(id).toMatch(/^agui_[\w-]{32}$/);
  expect(keyedId('key', 'agui', ['operator', 'a'])).toBe(id);
  const others = [
    keyedId('other', 'agui', ['operator', 'a']),
    keyedId('key', 'openai', ['operator', 'a']),
    keyedId('key', 'agui', ['operator', 'b']),
    keyedId('key', 'agui', ['operatora', '']),
  ];
  expect(new Set([id, ...others]).size).toBe(5);
});
