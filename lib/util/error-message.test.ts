import { expect, test } from 'vitest';
import { errorMessage } from './error-message.ts';

test.each([
  [new Error('no camera'), 'no camera'],
  [new TypeError(''), 'TypeError'],
  ['plain text', 'plain text'],
  ['', 'an empty error'],
  [undefined, 'undefined'],
  [42, '42'],
])('of %s', (thrown, message) => expect(errorMessage(thrown)).toBe(message));
