import { expect, test } from 'vitest';
import { sniffMediaType } from './sniff-media-type.ts';

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
