import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, onTestFinished, test } from 'vitest';
import { serveHttp } from '#lib/net/testing/serve-http';
import { type ScaleOptions, scaleForModel } from './scale-image.ts';

const flat = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#336699' } });

/** Noise is what packs worst. */
const noise = (width: number, height: number) =>
  sharp({
    create: {
      width,
      height,
      channels: 3,
      background: 'black',
      noise: { type: 'gaussian', mean: 128, sigma: 60 },
    },
  });

async function scaled(bytes: Uint8Array, options?: ScaleOptions) {
  const outcome = await scaleForModel(bytes, options);
  if (!outcome.ok) throw new Error(outcome.message);
  const { format, width, height, orientation } = await sharp(outcome.bytes).metadata();
  return { ...outcome, format, width, height, orientation };
}

test('[BL10] a small picture stays byte for byte what it is', async () => {
  for (const image of [
    flat(100, 50).png(),
    flat(100, 50).jpeg(),
    flat(9, 9).webp(),
    flat(9, 9).gif(),
  ]) {
    const bytes = await image.toBuffer();
    expect((await scaled(bytes)).bytes).toBe(bytes);
  }
});

test('[BL11] a large picture keeps its shape within the longest edge', async () => {
  const png = await scaled(await flat(4_000, 1_000).png().toBuffer());
  expect(png).toMatchObject({ mediaType: 'image/png', format: 'png', width: 1_568, height: 392 });
  const jpeg = await scaled(await flat(1_000, 4_000).jpeg().toBuffer(), { maxEdge: 400 });
  expect(jpeg).toMatchObject({ mediaType: 'image/jpeg', format: 'jpeg', width: 100, height: 400 });
});

test('[BL11] one that packs badly is brought within the bytes', async () => {
  const bytes = await noise(800, 800).png().toBuffer();
  expect(bytes.length).toBeGreaterThan(1024 * 1024);
  const whole = await scaled(bytes);
  expect(whole.bytes.length).toBeLessThanOrEqual(1024 * 1024);
  expect(whole.mediaType).toBe('image/jpeg');
  expect((await scaled(bytes, { maxBytes: 60_000 })).bytes.length).toBeLessThanOrEqual(60_000);
  expect(await scaleForModel(bytes, { maxBytes: 100 })).toMatchObject({
    ok: false,
    code: 'too_large',
  });
});

test('[BL11] one that lies on its side is turned upright, even when it is small', async () => {
  const bytes = await flat(60, 20).jpeg().withMetadata({ orientation: 6 }).toBuffer();
  expect(await scaled(bytes)).toMatchObject({ width: 20, height: 60, mediaType: 'image/jpeg' });
});

test('[BL11] a type that models do not take becomes one that they do', async () => {
  const bytes = await flat(64, 64).avif().toBuffer();
  expect(await scaled(bytes)).toMatchObject({ mediaType: 'image/png', width: 64 });
});

const svg = (inner: string, size = 90): Buffer =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}">${inner}</svg>`,
  );

test('[BL20] a drawing becomes a picture, on white', async () => {
  const drawn = await scaled(svg('<circle cx="45" cy="45" r="40" fill="red"/>'));
  expect(drawn).toMatchObject({ mediaType: 'image/png', width: 90, height: 90 });
  const { data } = await sharp(drawn.bytes).raw().toBuffer({ resolveWithObject: true });
  expect([...data.subarray(0, 3)]).toEqual([255, 255, 255]);
});

test('[BL20] nothing that a drawing refers to is read, by address or as a file', async () => {
  let requests = 0;
  const { origin, close } = await serveHttp((_, response) => {
    requests += 1;
    response.end();
  });
  onTestFinished(close);
  const file = join(tmpdir(), `callboard-red-${process.pid}.png`);
  writeFileSync(file, await flat(90, 90).png().toBuffer());
  const images = [`${origin}/x.png`, file, `file://${file}`].map(
    (href) => `<image width="90" height="90" href="${href}"/>`,
  );
  const style = `<style>@import url(${origin}/x.css);</style>`;
  const drawn = await scaled(svg(style + images.join('')));
  const { channels } = await sharp(drawn.bytes).stats();
  expect(channels.map(({ min }) => min)).toEqual([255, 255, 255]);
  expect(requests).toBe(0);
});

test('[BL20] a drawing that takes too long, or is too large, is refused', async () => {
  const levels = Array.from({ length: 7 }, (_, at) => {
    const uses = `<use href="#a${at}"/>`.repeat(10);
    return `<g id="a${at + 1}">${uses}</g>`;
  });
  const endless = svg(`<g id="a0"><rect width="90" height="90"/></g>${levels.join('')}`);
  expect(await scaleForModel(endless, { drawMs: 1_500 })).toMatchObject({
    ...{ ok: false, message: expect.stringContaining('it took over 1500 ms') },
  });
  expect(await scaleForModel(svg('', 10_000))).toMatchObject({ ok: false, code: 'unreadable' });
});

test('[BL12] a small file with too many pixels is not unpacked', async () => {
  const bomb = await flat(10_000, 5_000).png({ compressionLevel: 9 }).toBuffer();
  expect(bomb.length).toBeLessThan(500_000);
  expect(await scaleForModel(bomb)).toEqual({
    ok: false,
    code: 'too_many_pixels',
    message: '10000 × 5000 pixels are too many; at most 40000000 in all are read',
  });
  // A header may claim any size.
  const claim = await flat(10, 10).png().toBuffer();
  claim.writeUInt32BE(2_000_000_000, 16);
  expect(await scaleForModel(claim)).toMatchObject({ ok: false });
});

test('[BL13] what is not a whole picture is refused as a value', async () => {
  const png = await noise(300, 300).png().toBuffer();
  for (const bytes of [
    new Uint8Array(),
    Buffer.from('hello'),
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9"'),
    // What the decoder has no code for is said by its name, not guessed.
    Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1'),
    Buffer.from('BMx\0\0\0\0\0\0\0', 'latin1'),
    png.subarray(0, 40),
    png.subarray(0, png.length / 2),
  ]) {
    expect(await scaleForModel(bytes)).toMatchObject({ ok: false, code: 'unreadable' });
  }
});

test('[BL13] where pictures cannot be read at all the refusal names it', async () => {
  const bytes = await flat(9, 9).png().toBuffer();
  const loadSharp = () => Promise.reject(new Error('Could not load the module\nand more'));
  expect(await scaleForModel(bytes, { loadSharp })).toEqual({
    ok: false,
    code: 'unavailable',
    message: 'pictures cannot be scaled here (Could not load the module)',
  });
});
