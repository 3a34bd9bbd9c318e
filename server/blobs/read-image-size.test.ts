import fc from 'fast-check';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { readImageSize } from './read-image-size.ts';

const picture = (width: number, height: number, alpha: boolean) =>
  sharp({ create: { width, height, channels: alpha ? 4 : 3, background: '#336699' } });

const makers = {
  'image/png': (width: number, height: number) => picture(width, height, false).png(),
  'image/gif': (width: number, height: number) => picture(width, height, false).gif(),
  'image/jpeg': (width: number, height: number) => picture(width, height, false).jpeg(),
  'image/jpeg, progressive, with a profile': (width: number, height: number) =>
    picture(width, height, false).jpeg({ progressive: true }).withIccProfile('srgb'),
  'image/webp': (width: number, height: number) => picture(width, height, false).webp(),
  'image/webp, lossless': (width: number, height: number) =>
    picture(width, height, false).webp({ lossless: true }),
  'image/webp, extended': (width: number, height: number) =>
    picture(width, height, false).webp().withIccProfile('srgb'),
};

test.each(Object.entries(makers))('[BL9] the size of %s', async (name, make) => {
  const [type = ''] = name.split(',');
  for (const [width, height] of [
    [1, 1],
    [640, 480],
    [300, 3_000],
  ] as const) {
    const bytes = await make(width, height).toBuffer();
    expect(readImageSize(type, bytes)).toEqual({ width, height });
    // A view into a larger buffer, as a frame of a socket may be.
    const inside = Buffer.concat([Buffer.from('xyz'), bytes]).subarray(3);
    expect(readImageSize(type, inside)).toEqual({ width, height });
  }
});

test('[BL9] a JPEG may have fill bytes before a marker', () => {
  const jpeg = [0xff, 0xd8, 0xff, 0xff, 0xff, 0xc0, 0, 11, 8, 0, 5, 0, 7];
  expect(readImageSize('image/jpeg', Uint8Array.from(jpeg))).toEqual({ width: 7, height: 5 });
});

test('[BL9] a picture without extent is none', () => {
  expect(readImageSize('image/gif', Buffer.from('GIF89a\0\0\x01\0'))).toBeUndefined();
});

test('[BL9] no bytes make the reader throw or go on for ever', () => {
  const marks = ['\x89PNG\r\n\x1a\n....IHDR', '\xff\xd8\xff', 'GIF89a', 'RIFF....WEBPVP8X', ''];
  const bytes = fc
    .tuple(fc.constantFrom(...marks), fc.uint8Array({ maxLength: 64 }))
    .map(([mark, rest]) => Buffer.concat([Buffer.from(mark, 'latin1'), rest]));
  const types = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', '__proto__'];
  fc.assert(
    fc.property(fc.constantFrom(...types), bytes, (type, given) => {
      const size = readImageSize(type, given);
      if (size) expect(Math.min(size.width, size.height)).toBeGreaterThan(0);
    }),
    { numRuns: 2_000 },
  );
});
