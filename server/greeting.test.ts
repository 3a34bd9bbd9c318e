import { expect, test } from 'vitest';
import { greeting, reachableUrl } from './greeting.ts';

const facts = {
  url: 'http://127.0.0.1:3000',
  signInUrl: 'http://127.0.0.1:3000/sign-in/x',
  dataDir: '/data',
  token: '/data/token',
};

test('a start says where to go, what is used and how to stop, and owns up to the rehearsal', () => {
  const text = greeting({ ...facts, model: 'rehearsal' });
  for (const word of ['/sign-in/x', '/data', 'not an LLM', 'Ctrl+C']) expect(text).toContain(word);
  expect(greeting({ ...facts, model: 'openai:gpt-5' })).not.toContain('not an LLM');
});

test('the address it prints can be opened', () => {
  expect(reachableUrl('127.0.0.1', 3000)).toBe('http://127.0.0.1:3000');
  expect(reachableUrl('::1', 3000)).toBe('http://[::1]:3000');
  expect(reachableUrl('0.0.0.0', 80)).toBe('http://localhost:80');
});
