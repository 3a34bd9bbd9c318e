import { expect, test } from 'vitest';
import { allowedText, refuseCaller } from './allowed.ts';

test.each([
  [
    { role: 'viewer', also: ['agent', 'device'] },
    'people with the role viewer or operator or admin, and programs and devices',
  ],
  [{ role: 'operator', also: [] }, 'people with the role operator or admin'],
  [{ role: 'admin', also: [] }, 'people with the role admin'],
] as const)('[HT61] %j is put into words', (allowed, words) => {
  expect(allowedText(allowed)).toBe(words);
});

test('[HT61] a program that offers a tool reads whose token it takes', () => {
  const program = { kind: 'agent', name: 'bot', tokenId: 'tok_1', tools: [] } as const;
  expect(refuseCaller({ role: 'operator', also: ['device'] }, program)?.message).toBe(
    'A token of a program may not do this; it is for people with the role operator or admin, and devices.',
  );
});
