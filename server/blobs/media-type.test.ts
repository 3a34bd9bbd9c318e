import { expect, test, vi } from 'vitest';
import { findMismatch, isInlineMediaType, parseMediaType, sniffMediaType } from './media-type.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');

test.each([
  ['\x89PNG\r\n\x1a\n....', 'image/png'],
  ['\xff\xd8\xff\xe0', 'image/jpeg'],
  ['GIF89a', 'image/gif'],
  ['RIFF....WEBPVP8 ', 'image/webp'],
  ['RIFF....WAVEfmt ', 'audio/wav'],
  ['\0\0\0\x20ftypavif', 'image/avif'],
  ['\0\0\0\x20ftypisom', 'video/mp4'],
  ['\x1a\x45\xdf\xa3', 'video/webm'],
  ['%PDF-1.7', 'application/pdf'],
  ['OggS\0', 'audio/ogg'],
  ['ID3\x04', 'audio/mpeg'],
  ['\xff\xfb\x90', 'audio/mpeg'],
])('[BL6] %j is %s', (text, type) => {
  expect(sniffMediaType(bytes(text))).toBe(type);
});

test.each(['', 'RIFF', 'RIFF....AVI ', ' GIF89a', '<svg/>', '<!doctype html>', '\xff\xf1', 'PNG'])(
  '[BL6] %j has no mark',
  (text) => {
    expect(sniffMediaType(bytes(text))).toBeUndefined();
  },
);

const html = bytes('<script>alert(1)</script>');

test.each([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'audio/wav',
  'audio/mpeg',
  'audio/mp3',
  'audio/webm',
  'video/mp4',
  'video/webm',
  'application/ogg',
  'application/pdf',
])('[BL6] HTML is not taken for %s', (type) => {
  expect(findMismatch(type, html)).toMatch(`the bytes are not ${type}`);
});

test('[BL6] a mark with nothing behind it is not a picture', () => {
  for (const [type, text] of [
    ['image/png', '\x89PNG\r\n\x1a\n<script>alert(1)</script>'],
    ['image/jpeg', '\xff\xd8\xff<script>alert(1)</script>'],
    ['image/gif', 'GIF89a'],
    ['image/webp', 'RIFF....WEBP<script>'],
  ] as const) {
    expect(findMismatch(type, bytes(text))).toMatch(/there is no picture in them/);
  }
  expect(findMismatch('image/gif', bytes('GIF89a\x01\0\x01\0'))).toBeUndefined();
});

test('[BL6] the message names what the bytes are like', () => {
  expect(findMismatch('image/png', bytes('GIF89a'))).toBe(
    'the bytes are not image/png; they begin like image/gif',
  );
});

test.each([
  ['text/plain', 'caf\xc3\xa9', true],
  ['text/plain', 'caf\xe9', false],
  ['text/plain', 'a\0b', false],
  ['application/json', '{"a":[1]}', true],
  ['application/json', '{"a":', false],
  ['application/json', '"\xff"', false],
  ['audio/mp4', '\0\0\0\x20ftypM4A ', true],
  ['audio/mp3', 'ID3\x04', true],
])('[BL6] as %s, %j is right: %s', (type, text, right) => {
  expect(findMismatch(type, bytes(text)) === undefined).toBe(right);
});

test.each(['image/svg+xml', 'text/html', 'application/xhtml+xml', 'application/pdf', 'video/mp4'])(
  '[BL8] %s is only downloaded',
  (type) => expect(isInlineMediaType(type)).toBe(false),
);

test('[BL8] pictures of pixels are shown, and SVG is taken as what it is', () => {
  for (const type of ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']) {
    expect(isInlineMediaType(type)).toBe(true);
  }
  expect(findMismatch('image/svg+xml', bytes('<svg/>'))).toBeUndefined();
  expect(findMismatch('text/html', html)).toBeUndefined();
});

test.each([
  ['Image/PNG; q=1', 'image/png'],
  ['image/jpg', 'image/jpeg'],
  ['image/svg+xml', 'image/svg+xml'],
  ['image', undefined],
  ['', undefined],
  ['text/html\r\nset-cookie: a', undefined],
  ['a/b/c', undefined],
])('[BL6] %j is the type %s', (text, type) => {
  expect(parseMediaType(text)).toBe(type);
});

test('[BL6] JSON of many megabytes is known by its beginning and end, and is not parsed', () => {
  const parse = vi.spyOn(JSON, 'parse');
  const text = `[${'1,'.repeat(500_000)}1]`;
  expect(findMismatch('application/json', Buffer.from(text))).toBeUndefined();
  expect(findMismatch('application/json', Buffer.from(text.slice(1)))).toContain('not JSON');
  expect(parse).not.toHaveBeenCalled();
  parse.mockRestore();
});
