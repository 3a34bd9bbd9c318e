import { expect, test } from 'vitest';
import { createSessionFetch } from './send-request.ts';

const origin = 'http://127.0.0.1:3000';

function setup(readKey: () => string | null) {
  const sent: (string | null)[] = [];
  const fetch = createSessionFetch({
    origin,
    readKey,
    fetch: async (_url, init) => {
      sent.push(new Headers(init.headers).get('x-callboard-session'));
      return new Response();
    },
  });
  return { sent, fetch };
}

test('the key goes to our own origin, beside what was sent already', async () => {
  const { sent, fetch } = setup(() => 'k');
  await fetch('/v1/tools', { headers: { accept: 'application/json' } });
  await fetch(`${origin}/v1/tools`, {});
  expect(sent).toEqual(['k', 'k']);
});

test.each([
  'http://127.0.0.1:3001/v1/tools',
  'http://localhost:3000/v1/tools',
  '//evil.example/v1/tools',
  'https://127.0.0.1:3000/',
  '\\\\evil.example/x',
  'http://127.0.0.1:3000@evil.example/',
  'data:text/plain,x',
])('it does not go to %s', async (url) => {
  const { sent, fetch } = setup(() => 'k');
  await fetch(url, {});
  expect(sent).toEqual([null]);
});

test('it is read for each request, as another tab may have signed in', async () => {
  const keys = [null, 'first', 'second'];
  const { sent, fetch } = setup(() => keys.shift() ?? null);
  for (let n = 0; n < 3; n += 1) await fetch('/v1/tools', {});
  expect(sent).toEqual([null, 'first', 'second']);
});
