import { expect, test } from 'vitest';
import { formatBanner, reachableUrl } from './banner.ts';

const facts = {
  url: 'http://127.0.0.1:3000',
  signInUrl: 'http://127.0.0.1:3000/sign-in/x',
  dataDir: '/data',
  token: '/data/token',
  history: '12 calls, 1.0 MiB (database 1.0 MiB, blobs 0 B); kept for ever',
  isModelSet: false,
};
const using = (defaultModel: string, message?: string) => ({
  models: { defaultModel, trouble: message === undefined ? undefined : { message } },
});

test('a start prints where to go, what is used and how to stop, and that the rehearsal is used', () => {
  const text = formatBanner({ ...facts, ...using('rehearsal') });
  const words = ['/sign-in/x', '/data', '12 calls, 1.0 MiB', 'not an LLM', 'Ctrl+C'];
  for (const word of words) expect(text).toContain(word);
  expect(formatBanner({ ...facts, ...using('openai:gpt-5') })).not.toContain('not an LLM');
});

test('[AL69] a start prints what is set and that it did not answer, and does not ask to set it', () => {
  const trouble = 'The model server http://127.0.0.1:11434/v1 (OPENAI_BASE_URL) did not answer: x.';
  const none = formatBanner({ ...facts, ...using('compatible', trouble) });
  expect(none).toContain(`none yet. ${trouble}`);
  expect(none).not.toMatch(/set OPENAI|rehearsal/);
  const named = formatBanner({
    ...facts,
    ...using('compatible:qwen3:8b', trouble),
    isModelSet: true,
  });
  expect(named).toContain(`compatible:qwen3:8b. ${trouble}`);
  const chosen = formatBanner({ ...facts, ...using('rehearsal', trouble), isModelSet: true });
  expect(chosen).toContain('CALLBOARD_MODEL names it');
});

test('the address it prints can be opened', () => {
  expect(reachableUrl('127.0.0.1', 3000)).toBe('http://127.0.0.1:3000');
  expect(reachableUrl('::1', 3000)).toBe('http://[::1]:3000');
  expect(reachableUrl('0.0.0.0', 80)).toBe('http://localhost:80');
});
