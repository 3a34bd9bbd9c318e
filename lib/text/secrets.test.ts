import { expect, test } from 'vitest';
import { createRedactedStream, createSecrets } from './secrets.ts';

const KEY = 'canary of the harbour "7f3a"';
const secrets = createSecrets([{ kind: 'configured', value: KEY }]);
const run = (text: string, count: number) => text.repeat(count).slice(0, count);
const token = `ghp_${run('a1B2', 36)}`;
const jwt = [`eyJ${run('hbGci', 20)}`, `eyJ${run('zdWIi', 20)}`, run('dBjftJ', 43)].join('.');
const pem = `-----BEGIN PRIVATE ${'KEY'}-----\nMIIE${run('IBAAKC', 90)}=\n-----END PRIVATE KEY-----`;

/** What is shown of the text after each of its pieces. */
function shownOf(pieces: readonly string[]): string[] {
  const stream = createRedactedStream(secrets);
  const shown = pieces.map((piece) => stream.add(piece));
  return [...shown, stream.end()];
}

test('a value is found as it is, and within JSON text', () => {
  expect(secrets.hide(`a ${KEY} b`)).toBe('a [redacted:configured] b');
  const json = JSON.stringify({ key: KEY, of: token });
  expect(secrets.hide(json)).toBe('{"key":"[redacted:configured]","of":"[redacted:token]"}');
});

test.each([
  ['a value', KEY, '[redacted:configured]'],
  ['a token', token, '[redacted:token]'],
  ['a JWT', jwt, '[redacted:jwt]'],
  ['a private key', pem, '[redacted:private_key]'],
  ['what follows Bearer', 'Bearer 0123456789abcdef', 'Bearer [redacted:token]'],
  ['what follows BEARER', 'BEARER\t0123456789abcdef', 'BEARER\t[redacted:token]'],
])('%s is shown at no moment of a text that comes in pieces', (_name, secret, mark) => {
  const text = `see: ${secret}, and go on. task-force-of-the-harbour-and-the-lighthouse`;
  for (const size of [1, 2, 3, 7, 20]) {
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
    expect(shownOf(pieces).join('')).toBe(text.replace(secret, mark));
  }
  expect(shownOf([`see: ${secret.slice(0, -1)}`])[0]).toMatch(/^see: (?:Bearer\s)?$/i);
});

test('of values one of which ends as another begins neither is shown', () => {
  const two = createSecrets([
    { kind: 'configured', value: 'lighthouse-sk' },
    { kind: 'configured', value: 'house-skipper' },
  ]);
  const stream = createRedactedStream(two);
  const shown = Array.from('a lighthouse-sk b', (char) => stream.add(char));
  expect([...shown, stream.end()].join('')).toBe('a [redacted:configured] b');
});

test('a long word that may be a secret is looked at now and then, and at its end', () => {
  let looks = 0;
  const settled = (text: string) => {
    looks += 1;
    return text.endsWith(' ') ? text.length : 0;
  };
  const stream = createRedactedStream({ hide: (text) => text, settled });
  const shown = Array.from(run('eyJ', 20_000), (char) => stream.add(char)).join('');
  expect([shown, looks < 200]).toEqual(['', true]);
  expect(stream.add('x ')).toBe(`${run('eyJ', 20_000)}x `);
});

test('words are shown as they come', () => {
  expect(shownOf(['Hello', ' world', ' and', '你好'])).toEqual([
    'Hello',
    ' world',
    ' and',
    '你好',
    '',
  ]);
});

test('what only begins like a secret is shown once it goes on otherwise, or ends', () => {
  expect(shownOf(['can', 'ary', ' birds', ' sk', 'y', ' s'])).toEqual([
    ...['', '', 'canary birds', ' ', 'sky', ' ', 's'],
  ]);
});

test('[RU50] what may be stored has no half of a character and no NUL, and no pair is parted', () => {
  expect(secrets.hide('party \ud83c, a\0b')).toBe('party \ufffd, a\0b');
  expect(shownOf(['a\0b']).join('')).toBe('a\ufffdb');
  expect(shownOf(['party \ud83c', '\udf89 and \udf89', '.'])).toEqual([
    'party ',
    '🎉 and \ufffd',
    '.',
    '',
  ]);
});
