import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright';
import encodeQR from 'qr';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { openChromium } from '../client/testing/open-chromium.ts';
import { resultOf, setupTools } from './testing/setup-tools.ts';

const chromium = await openChromium(
  join(import.meta.dirname, 'testing/tools-page.ts'),
  '<p>Harbour</p>',
);
const setup = (options?: BrowserContextOptions) => setupTools(chromium, options);

test('[BT63] a sound is recorded, with its length and whether anything can be heard', async () => {
  const { page, call } = await setup({ permissions: ['microphone'] });
  const { output, files } = resultOf(await call('microphone.record', { seconds: 1.5 }));
  const [sound] = files;
  expect(output).toMatchObject({
    media_type: 'audio/webm',
    size: sound?.bytes.length,
    duration_ms: expect.any(Number),
    silent: false,
  });
  expect(output.duration_ms).toBeGreaterThanOrEqual(1_400);
  // The first bytes of Matroska.
  expect(sound?.bytes.subarray(0, 4).toString('hex')).toBe('1a45dfa3');
  expect(await page.evaluate(() => window.toolsRig.tracks())).toEqual(['ended']);
});

test('[BT5] a cancelled recording turns the microphone off', async () => {
  const { page, link, begin } = await setup({ permissions: ['microphone'] });
  const id = await begin('microphone.record', { seconds: 60 });
  await page.waitForFunction(() => window.toolsRig.tracks().length === 1);
  link.send({ type: 'tool_call_cancel', id, reason: 'enough' });
  expect(await link.answer()).toMatchObject({ code: 'cancelled' });
  await page.waitForFunction(() => window.toolsRig.tracks().every((state) => state === 'ended'));
});

test('[BT62] the track of a device that moves, with progress meanwhile', async () => {
  const { page, link, begin } = await setup({
    permissions: ['geolocation'],
    geolocation: { latitude: 50, longitude: 8, accuracy: 5 },
  });
  await begin('geolocation.watch', { seconds: 30, max_points: 2 });
  expect(await link.next('tool_status')).toMatchObject({
    progress: { done: 0, total: 30 },
    preview: { latitude: 50, longitude: 8 },
  });
  await page.context().setGeolocation({ latitude: 50.001, longitude: 8, accuracy: 5 });
  const { output } = resultOf(await link.answer());
  expect(output).toMatchObject({ points: 2, datum: 'WGS-84' });
  expect(output.distance_m).toBeCloseTo(111.2, 0);
});

/** The page's browser has the detector of a phone, which reads this from each frame. */
const detectorOf = (page: Page, text: string) =>
  page.evaluate((rawValue) => {
    Reflect.set(
      window,
      'BarcodeDetector',
      class {
        static getSupportedFormats = async () => ['ean_13', 'qr_code'];
        detect = async () => [{ rawValue, format: 'ean_13' }];
      },
    );
  }, text);

test('[BT64] a code is read by the browser’s own detector where it has one', async () => {
  const { page, call } = await setup({ permissions: ['camera'] });
  await detectorOf(page, '4006381333931');
  expect(resultOf(await call('camera.scan')).output).toEqual({
    codes: [{ text: '4006381333931', format: 'ean_13' }],
    reader: 'BarcodeDetector',
  });
  expect(await page.evaluate(() => window.toolsRig.tracks())).toEqual(['ended']);
});

test('[BT64] without one a QR code is read from the camera by a library', async () => {
  const { page, call } = await setup({ permissions: ['camera'] });
  const svg = encodeQR('https://board.example/pair/AB12', 'svg');
  await page.evaluate(async (source) => {
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(source)}`;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [640, 480];
    const context = canvas.getContext('2d');
    setInterval(() => {
      context?.fillRect(0, 0, 640, 480);
      context?.drawImage(image, 180, 100, 280, 280);
    }, 100);
    if (context) context.fillStyle = '#ffffff';
    navigator.mediaDevices.getUserMedia = async () => canvas.captureStream(10);
  }, svg);
  expect(resultOf(await call('camera.scan')).output).toMatchObject({
    codes: [{ text: 'https://board.example/pair/AB12', format: 'qr_code' }],
    reader: 'qr',
    note: expect.stringContaining('only QR codes'),
  });
});

test('[BT64] without a code in time the call fails, and says what to do', async () => {
  const { page, call } = await setup({ permissions: ['camera'] });
  expect(await call('camera.scan', { seconds: 1 })).toMatchObject({
    code: 'unavailable',
    error: expect.stringMatching(/No code was read in 1 seconds.*only QR codes/),
  });
  expect(await page.evaluate(() => window.toolsRig.tracks())).toEqual(['ended']);
});

test('[BT65] the readings of a sensor, and words where the device has none', async () => {
  const { page, call } = await setup();
  expect(await call('sensors.read', { sensor: 'orientation', seconds: 0.2 })).toMatchObject({
    code: 'unavailable',
    error: expect.stringContaining('this device seems to have none'),
  });
  const session = await page.context().newCDPSession(page);
  for (const type of ['linear-acceleration', 'accelerometer', 'gyroscope'] as const) {
    await session.send('Emulation.setSensorOverrideEnabled', { enabled: true, type });
    const reading = { xyz: { x: 1, y: 2, z: 3 } };
    await session.send('Emulation.setSensorOverrideReadings', { type, reading });
  }
  const args = { sensor: 'motion', seconds: 0.5, max_samples: 3 };
  const { output } = resultOf(await call('sensors.read', args));
  const moved = { acceleration_x: 1, acceleration_y: 2, acceleration_z: 3, gravity_z: 3 };
  expect(output).toMatchObject({ sensor: 'motion', mean: moved });
  expect(output.samples).toHaveLength(3);
  expect(output.readings).toBeGreaterThan(3);
});

/** A JPEG with a place in its metadata. */
const photoWithPlace = () =>
  sharp({ create: { width: 300, height: 200, channels: 3, background: '#00aa00' } })
    .withExif({
      IFD0: { Make: 'SecretCamera' },
      IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 0/1' },
    })
    .jpeg()
    .toBuffer();

async function pick(
  args: Record<string, unknown>,
  files: { name: string; mimeType: string; buffer: Buffer }[],
) {
  const { page, link, begin } = await setup();
  await begin('file.pick', args);
  expect(await link.next('tool_status')).toMatchObject({ phase: 'device' });
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'allowed' }).click();
  await (await chooser).setFiles(files);
  return link.answer();
}

test('[BT61] a picture that was picked has no metadata, and no more pixels than asked', async () => {
  const buffer = await photoWithPlace();
  expect((await sharp(buffer).metadata()).exif?.includes('SecretCamera')).toBe(true);
  const file = { name: 'beach.jpg', mimeType: 'image/jpeg', buffer };
  const { output, files } = resultOf(await pick({ max_width: 150 }, [file]));
  const [picture] = files;
  expect(output.files).toEqual([
    {
      ...{ name: 'beach.jpg', media_type: 'image/jpeg', size: picture?.bytes.length },
      ...{ width: 150, height: 100, metadata: 'removed' },
    },
  ]);
  const { exif, width } = await sharp(picture?.bytes).metadata();
  expect({ exif, width }).toEqual({ exif: undefined, width: 150 });
  expect(picture?.bytes.includes('SecretCamera')).toBe(false);
});

test('[BT61] with strip_metadata false, and for other files, the bytes are as they were', async () => {
  const buffer = await photoWithPlace();
  const text = Buffer.from('high tide');
  const given = [
    { name: 'beach.jpg', mimeType: 'image/jpeg', buffer },
    { name: 'tide.txt', mimeType: 'text/plain', buffer: text },
  ];
  const { output, files } = resultOf(await pick({ strip_metadata: false, multiple: true }, given));
  expect(output.files).toMatchObject([{ metadata: 'kept' }, { metadata: 'kept', size: 9 }]);
  expect(files.map(({ bytes }) => bytes)).toEqual([buffer, text]);
});

test('[BT61] a picture that the browser cannot read is not given with its metadata', async () => {
  const file = { name: 'odd.jpg', mimeType: 'image/jpeg', buffer: Buffer.from('SecretCamera') };
  expect(await pick({}, [file])).toMatchObject({
    code: 'unavailable',
    error: expect.stringContaining('"strip_metadata": false'),
  });
});

test('a file that is too large is refused with its size', async () => {
  const file = { name: 'big.txt', mimeType: 'text/plain', buffer: Buffer.alloc(2_000) };
  expect(await pick({ max_bytes: 1_000 }, [file])).toMatchObject({
    code: 'result_too_large',
    error: 'big.txt has 2000 bytes; at most 1000 can be given.',
  });
});

test('the battery and the network are read', async () => {
  const { page, call } = await setup();
  expect(resultOf(await call('battery.read')).output).toMatchObject({
    level: expect.any(Number),
    charging: expect.any(Boolean),
  });
  expect(resultOf(await call('network.read')).output).toMatchObject({
    online: true,
    effective_type: expect.any(String),
  });
  await page.context().close();
});

test('[BT10] the shared tab is captured in a browser without ImageCapture', async () => {
  const { page, callAndClick } = await setup({ viewport: { width: 640, height: 480 } });
  await page.evaluate(() => Reflect.deleteProperty(window, 'ImageCapture'));
  const answer = await callAndClick('browser.screenshot', { mode: 'display' });
  const { output, files } = resultOf(answer);
  expect(output).toMatchObject({ mode: 'display', media_type: 'image/png' });
  expect((await sharp(files[0]?.bytes).metadata()).width).toBe(output.width);
});

/** From now on the first frame of a shared tab is lost on its way, as under load; the page does not change. */
const loseFirstFrame = (page: Page) =>
  page.evaluate(() => {
    const { mediaDevices } = navigator;
    const open = mediaDevices.getDisplayMedia.bind(mediaDevices);
    // TypeScript's types have neither of the two.
    const { MediaStreamTrackGenerator: Generator, MediaStreamTrackProcessor: Processor } =
      window as unknown as Record<
        string,
        new (
          given: object,
        ) => MediaStreamTrack & TransformStream
      >;
    if (!Generator || !Processor) throw new Error('this browser passes no frames on');
    mediaDevices.getDisplayMedia = async (options) => {
      const [track] = (await open(options)).getVideoTracks();
      const given = new Generator({ kind: 'video' });
      let frames = 0;
      const rest = new TransformStream<VideoFrame, VideoFrame>({
        transform(frame, controller) {
          frames += 1;
          if (frames > 1) controller.enqueue(frame);
          else frame.close();
        },
      });
      const { readable } = new Processor({ track });
      void readable.pipeThrough(rest).pipeTo(given.writable);
      return new MediaStream([given]);
    };
  });

test.each(['with', 'without'])(
  '[BT10] a page at rest whose first frame is lost is captured %s ImageCapture',
  async (kind) => {
    const { page, callAndClick } = await setup({ viewport: { width: 640, height: 480 } });
    if (kind === 'without')
      await page.evaluate(() => Reflect.deleteProperty(window, 'ImageCapture'));
    await loseFirstFrame(page);
    const { output } = resultOf(await callAndClick('browser.screenshot', { mode: 'display' }));
    expect(output).toMatchObject({ mode: 'display', media_type: 'image/png' });
  },
);

/** From now on no stream gives a frame; the clock of the page is moved by hand. */
async function giveNoFrame(page: Page) {
  await page.clock.install();
  await page.evaluate(() => {
    const open = async () => document.createElement('canvas').captureStream(0);
    Object.assign(navigator.mediaDevices, { getDisplayMedia: open, getUserMedia: open });
  });
}

test.each([
  ['browser.screenshot', 'ImageCapture'],
  ['browser.screenshot', 'a video element'],
  ['camera.photo', 'a video element'],
  ['camera.scan', 'a video element'],
])('[BT10] %s ends with words when no frame comes by %s', async (tool, by) => {
  const { page, link, begin } = await setup({ permissions: ['camera'] });
  if (by !== 'ImageCapture')
    await page.evaluate(() => Reflect.deleteProperty(window, 'ImageCapture'));
  await giveNoFrame(page);
  await begin(tool, tool === 'browser.screenshot' ? { mode: 'display' } : {});
  if (tool === 'browser.screenshot') await page.getByRole('button', { name: 'allowed' }).click();
  if (by !== 'ImageCapture') await page.locator('video').waitFor({ state: 'attached' });
  await page.clock.runFor(15_000);
  expect(await link.answer()).toMatchObject({
    code: 'unavailable',
    error: expect.stringContaining('gave no frame'),
  });
});
