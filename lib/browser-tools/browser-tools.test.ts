import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { openChromium } from '../client/testing/open-chromium.ts';
import { setupTools } from './testing/setup-tools.ts';

const BODY = `
  <style>body { margin: 0; background: #ffffff; font: 24px sans-serif }
  #red { position: absolute; left: 100px; top: 100px; width: 200px; height: 100px; background: #ff0000 }
  #far { position: absolute; left: 0; top: 3000px; width: 50px; height: 50px; background: #0000ff }</style>
  <script>if (location.search === '?no-tabs') delete window.BrowserCaptureMediaStreamTrack;</script>
  <h1>Harbour office</h1><p id="tide">High tide at <b>noon</b></p><p hidden>secret draft</p>
  <div id="red"></div><div id="far"></div>`;

const chromium = await openChromium(join(import.meta.dirname, 'testing/tools-page.ts'), BODY);

const setup = (options: BrowserContextOptions = {}, url = chromium.url) =>
  setupTools(chromium, { viewport: { width: 800, height: 600 }, ...options }, url);

const resultSchema = z.object({
  type: z.literal('tool_result'),
  output: z.unknown(),
  attachments: z.array(z.object({ media_type: z.string(), data: z.string(), alt: z.string() })),
});

/** The picture of an answer, decoded. */
async function pictureOf(answer: unknown) {
  const { output, attachments } = resultSchema.parse(answer);
  const [attachment] = attachments;
  const image = sharp(Buffer.from(attachment?.data ?? '', 'base64'));
  const { data, info } = await image.removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const pixel = (x: number, y: number) => {
    const at = (y * info.width + x) * info.channels;
    return [...data.subarray(at, at + 3)];
  };
  return { output, attachment, pixel, width: info.width, height: info.height };
}

const isRed = ([r = 0, g = 0, b = 0]: number[]) => r > 230 && g < 40 && b < 40;
const isBlue = ([r = 0, g = 0, b = 0]: number[]) => r < 40 && g < 40 && b > 230;

test('[BT1] a secure page in Chromium offers all of them', async () => {
  const { tools } = await setup();
  const names = z
    .array(z.object({ name: z.string() }))
    .parse(tools)
    .map(({ name }) => name);
  expect(names).toEqual([
    ...['browser.screenshot', 'page.text', 'page.open', 'display.show', 'notification.show'],
    ...['speech.say', 'speech.listen', 'vibrate', 'geolocation.get', 'geolocation.watch'],
    ...['sensors.read', 'camera.photo', 'camera.scan', 'microphone.record', 'clipboard.read'],
    ...['clipboard.write', 'file.pick', 'device.info', 'battery.read', 'network.read'],
  ]);
});

test('[BT1] a page that is not a secure context offers what it can', async () => {
  const { tools } = await setup({}, chromium.insecureUrl);
  const names = z.array(z.object({ name: z.string(), parameters: z.unknown() })).parse(tools);
  expect(names.map(({ name }) => name)).toEqual([
    ...['browser.screenshot', 'page.text', 'page.open', 'display.show', 'speech.say', 'vibrate'],
    ...['file.pick', 'device.info', 'network.read'],
  ]);
  expect(JSON.stringify(names)).not.toContain('"display"');
});

test('[BT7] those that change something are annotated, the others are read-only', async () => {
  const { tools } = await setup();
  const schema = z.object({
    name: z.string(),
    annotations: z.object({ readOnlyHint: z.boolean() }),
  });
  const changing = z
    .array(schema)
    .parse(tools)
    .filter(({ annotations }) => !annotations.readOnlyHint);
  expect(changing.map(({ name }) => name)).toEqual([
    ...['page.open', 'notification.show', 'speech.say', 'vibrate', 'clipboard.write'],
  ]);
});

test('[BT2] a page screenshot shows what is in view, and is marked as reconstructed', async () => {
  const { call } = await setup();
  const { output, attachment, pixel, width, height } = await pictureOf(
    await call('browser.screenshot'),
  );
  expect(output).toEqual({
    width: 800,
    height: 600,
    media_type: 'image/webp',
    mode: 'page',
    note: 'reconstructed from the elements of the page',
  });
  expect({ width, height, alt: attachment?.alt }).toEqual({
    width: 800,
    height: 600,
    alt: expect.stringContaining('reconstructed'),
  });
  expect([isRed(pixel(110, 105)), isRed(pixel(50, 150)), pixel(780, 580)]).toEqual([
    true,
    false,
    [255, 255, 255],
  ]);
});

test('[BT2] it shows what is in view of a scrolled page, or with full_page all of it', async () => {
  const { page, call } = await setup();
  const whole = await pictureOf(await call('browser.screenshot', { full_page: true }));
  expect(whole.height).toBe(3_050);
  expect([isRed(whole.pixel(200, 110)), isBlue(whole.pixel(25, 3_025))]).toEqual([true, true]);
  await page.evaluate(() => window.scrollTo(0, 2_900));
  const top = 3_000 - (await page.evaluate(() => window.scrollY));
  const { pixel, height } = await pictureOf(await call('browser.screenshot'));
  expect([height, isBlue(pixel(25, top + 25)), isBlue(pixel(25, top - 25))]).toEqual([
    600,
    true,
    false,
  ]);
});

/** A green picture of the page's own making, which a policy lets it show and not fetch. */
const ADD_BLOB_PICTURE = async () => {
  const policy = document.createElement('meta');
  policy.httpEquiv = 'content-security-policy';
  policy.content = "img-src 'self' blob: data:; connect-src ws:";
  document.head.append(policy);
  const canvas = new OffscreenCanvas(60, 40);
  const context = canvas.getContext('2d');
  if (context) context.fillStyle = '#00ff00';
  context?.fillRect(0, 0, 60, 40);
  const image = document.createElement('img');
  image.src = URL.createObjectURL(await canvas.convertToBlob());
  image.style.cssText = 'position:absolute;left:400px;top:100px;width:120px;height:80px';
  document.body.append(image);
  await image.decode();
  URL.revokeObjectURL(image.src);
};

test('[BT2] a picture of the page’s own making is in the drawing, and what was skipped out of view', async () => {
  const { page, call } = await setup();
  await page.evaluate(ADD_BLOB_PICTURE);
  await page.evaluate(() => {
    const far = document.querySelector<HTMLElement>('#far');
    if (far)
      far.outerHTML = `<div style="content-visibility:auto;position:absolute;top:2000px;left:0;width:50px;height:50px"><div style="width:50px;height:50px;background:#0000ff"></div></div>`;
  });
  const { pixel } = await pictureOf(await call('browser.screenshot', { full_page: true }));
  const [r = 255, g = 0, b = 255] = pixel(460, 140);
  expect([r < 40 && g > 230 && b < 40, isBlue(pixel(25, 2_025))]).toEqual([true, true]);
});

/** From now on the browser shares this, as one does that knows no tabs. */
const shareOnly = (page: Page, given: { surface?: string; error?: string }) =>
  page.evaluate(({ surface, error }) => {
    const open = navigator.mediaDevices.getDisplayMedia.bind(navigator.mediaDevices);
    navigator.mediaDevices.getDisplayMedia = async (options) => {
      if (error) throw new DOMException('nothing there', error);
      const stream = await open(options);
      const [track] = stream.getVideoTracks();
      if (track) track.getSettings = () => (surface ? { displaySurface: surface } : {});
      return stream;
    };
  }, given);

test.each([
  ['window', 'a window that the person chose'],
  ['monitor', 'a screen that the person chose'],
  [undefined, 'a window or a screen'],
])('[BT8] a browser that shares %s says so in question and result', async (surface, note) => {
  const { page, link, begin } = await setup({}, `${chromium.url}?no-tabs`);
  await shareOnly(page, surface === undefined ? {} : { surface });
  await begin('browser.screenshot', { mode: 'display' });
  await page.getByText('Share a window or a screen').waitFor();
  await page.getByRole('button', { name: 'allowed' }).click();
  const { output, attachment } = await pictureOf(await link.answer());
  expect(output).toMatchObject({ displaySurface: surface ?? 'unknown' });
  expect(JSON.stringify([output, attachment?.alt])).toContain(note);
  expect(JSON.stringify([output, attachment?.alt])).not.toMatch(/as displayed|“Rig”/);
});

test.each([
  ['NotFoundError', 'unavailable'],
  ['NotReadableError', 'unavailable'],
  ['NotAllowedError', 'permission_denied'],
])('[BT8] sharing that ends with %s is %s', async (error, code) => {
  const { page, callAndClick } = await setup();
  await shareOnly(page, { error });
  const answer = await callAndClick('browser.screenshot', { mode: 'display' }, 'allowed');
  expect(answer).toMatchObject({ code });
});

test('[BT8] the shared tab is asked for once, by a tap', async () => {
  const { page, link, call, begin } = await setup();
  await begin('browser.screenshot', { mode: 'display' });
  expect(await link.next('tool_status')).toMatchObject({ phase: 'device' });
  await page.getByRole('button', { name: 'allowed' }).click();
  expect(await link.next('tool_status')).toMatchObject({ phase: 'granted' });
  const { output, pixel } = await pictureOf(await link.answer());
  expect(output).toMatchObject({ mode: 'display', media_type: 'image/png', note: 'as displayed' });
  expect(isRed(pixel(200, 150))).toBe(true);
  const before = link.all.length;
  await pictureOf(await call('browser.screenshot', { mode: 'display' }));
  expect(link.all.slice(before).map(({ type }) => type)).not.toContain('tool_status');
  await page.evaluate(() => window.toolsRig.endTracks());
  await begin('browser.screenshot', { mode: 'display' });
  expect(await link.next('tool_status')).toMatchObject({ phase: 'device' });
});

/** From now on the page's browser refuses so many frames, and names no reason, as Chromium does under load. */
const refuseFrames = (page: Page, times: number) =>
  page.evaluate((count) => {
    const { prototype } = Reflect.get(window, 'ImageCapture');
    const { grabFrame } = prototype;
    let left = count;
    prototype.grabFrame = function grab() {
      left -= 1;
      return left < 0 ? grabFrame.call(this) : Promise.reject();
    };
  }, times);

test('[BT10] a frame of the shared tab that is refused without a reason is asked for again', async () => {
  const { page, callAndClick } = await setup();
  await refuseFrames(page, 2);
  const answer = await callAndClick('browser.screenshot', { mode: 'display' }, 'allowed');
  const { output } = await pictureOf(answer);
  expect(output).toMatchObject({ mode: 'display', note: 'as displayed' });
});

test('[BT10] a browser that refuses each frame of the shared tab ends the call with words', async () => {
  const { page, callAndClick } = await setup();
  await refuseFrames(page, 1_000);
  const answer = await callAndClick('browser.screenshot', { mode: 'display' }, 'allowed');
  expect(answer).toMatchObject({
    type: 'tool_error',
    error: expect.stringContaining('The browser gave no frame'),
  });
});

test('[BT4] declining to share the tab is a denial', async () => {
  const { callAndClick } = await setup();
  const answer = await callAndClick('browser.screenshot', { mode: 'display' }, 'denied');
  expect(answer).toMatchObject({ code: 'permission_denied' });
});

test('[BT5] a cancel takes the question away', async () => {
  const { page, link, begin } = await setup();
  const id = await begin('browser.screenshot', { mode: 'display' });
  await page.getByRole('button', { name: 'allowed' }).waitFor();
  link.send({ type: 'tool_call_cancel', id, reason: 'enough' });
  expect(await link.answer()).toMatchObject({ code: 'cancelled', error: 'enough' });
  await page.getByRole('button', { name: 'allowed' }).waitFor({ state: 'detached' });
});

test('[BT72] geolocation.get returns the position and its datum, also under the names of OpenClaw’s nodes', async () => {
  const { call } = await setup({
    permissions: ['geolocation'],
    geolocation: { latitude: 53.5413, longitude: 9.9841, accuracy: 12 },
  });
  expect(await call('geolocation.get')).toMatchObject({
    output: {
      latitude: 53.5413,
      longitude: 9.9841,
      accuracy: 12,
      timestamp: expect.any(Number),
      datum: 'WGS-84',
      lat: 53.5413,
      lon: 9.9841,
      accuracyMeters: 12,
      source: 'unknown',
    },
  });
});

test('[BT3] while the browser asks for the position the call reports it', async () => {
  const { page, link, begin } = await setup({
    geolocation: { latitude: 1, longitude: 2 },
  });
  await begin('geolocation.get');
  expect(await link.next('tool_status')).toMatchObject({ phase: 'device' });
  await page.context().grantPermissions(['geolocation']);
});

test('[BT4] a denial explains how to allow it', async () => {
  // Chromium by Playwright denies all that is not in a list that was given.
  const { call } = await setup({ permissions: ['midi'] });
  for (const [name, args] of [
    ['geolocation.get', {}],
    ['camera.photo', {}],
    ['clipboard.read', {}],
    ['notification.show', { title: 'Tide' }],
  ] as const) {
    expect(await call(name, args), name).toMatchObject({
      code: 'permission_denied',
      error: expect.stringContaining("browser's site settings"),
    });
  }
});

test('[BT72] camera.photo gives a JPEG no wider than asked, and turns the camera off', async () => {
  const { page, call } = await setup({ permissions: ['camera'] });
  const { output, width, height, attachment } = await pictureOf(
    await call('camera.photo', { max_width: 320 }),
  );
  expect(output).toEqual({
    width: 320,
    height: 240,
    media_type: 'image/jpeg',
    size: Buffer.from(attachment?.data ?? '', 'base64').length,
    facing: 'environment',
    format: 'jpg',
  });
  expect({ width, height, type: attachment?.media_type }).toEqual({
    width: 320,
    height: 240,
    type: 'image/jpeg',
  });
  expect(await page.evaluate(() => window.toolsRig.tracks())).toEqual(['ended']);
});

test('[BT5] a cancelled photo turns the camera off', async () => {
  const { page, link, begin } = await setup({ permissions: ['camera'] });
  const id = await begin('camera.photo');
  link.send({ type: 'tool_call_cancel', id, reason: 'enough' });
  expect(await link.answer()).toMatchObject({ code: 'cancelled' });
  await page.waitForFunction(() => window.toolsRig.tracks().every((state) => state === 'ended'));
});

test('the clipboard is written and read', async () => {
  const { call } = await setup({ permissions: ['clipboard-read', 'clipboard-write'] });
  expect(await call('clipboard.write', { text: 'high tide' })).toMatchObject({
    output: { written_chars: 9 },
  });
  expect(await call('clipboard.read')).toMatchObject({ output: { text: 'high tide' } });
});

test('notification.show shows one', async () => {
  const { call } = await setup({ permissions: ['notifications'] });
  expect(await call('notification.show', { title: 'Tide', body: 'high' })).toMatchObject({
    output: { shown: true },
  });
});

test('page.text reads what is visible, of the page or of one element', async () => {
  const { call } = await setup();
  expect(await call('page.text')).toMatchObject({
    output: {
      title: 'Rig',
      text: expect.stringMatching(/Harbour office\s+High tide at noon\s*$/),
      truncated: false,
    },
  });
  expect(await call('page.text', { selector: '#tide', max_chars: 9 })).toMatchObject({
    output: { text: 'High tide', chars: 17, truncated: true },
  });
  expect(await call('page.text', { selector: '#none' })).toMatchObject({ code: 'unavailable' });
  expect(await call('page.text', { selector: '((' })).toMatchObject({ code: 'invalid_args' });
});

test('device.info describes the device', async () => {
  const { call } = await setup({ locale: 'zh-CN', timezoneId: 'Asia/Shanghai' });
  expect(await call('device.info')).toMatchObject({
    output: {
      viewport: { width: 800, height: 600 },
      language: 'zh-CN',
      time_zone: 'Asia/Shanghai',
      online: true,
      secure_context: true,
      device_pixel_ratio: 1,
    },
  });
});

test('[BT9] a person’s touch is reported, and no event that a script made', async () => {
  const { page, link } = await setup();
  const touched = async () => (await link.next('client_state')).touched;
  while ((await link.next('client_state')).visibility === undefined);
  await page.evaluate(() => {
    window.dispatchEvent(new PointerEvent('pointerdown'));
    window.dispatchEvent(new KeyboardEvent('keydown', { key: 'a' }));
    document.body.appendChild(document.createElement('input')).focus();
    // Reported after those would have been.
    document.dispatchEvent(new Event('visibilitychange'));
  });
  expect(await touched()).toBeUndefined();
  await page.mouse.click(5, 5);
  expect(await touched()).toBe(true);
});

test('[BT6] the state is reported at once, and when a permission changes', async () => {
  const { page, link } = await setup({ permissions: ['geolocation'] });
  const first = await link.next('client_state');
  expect(first).toMatchObject({
    visibility: 'visible',
    secure_context: true,
    permissions: { 'geolocation.get': 'granted', 'camera.photo': 'denied' },
  });
  await page.context().grantPermissions(['camera']);
  for (;;) {
    const { permissions } = await link.next('client_state');
    if (permissions?.['camera.photo'] === 'granted') break;
  }
});
