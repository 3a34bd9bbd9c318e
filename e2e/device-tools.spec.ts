import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Locator, Page } from '@playwright/test';
import encodeQR from 'qr';
import sharp from 'sharp';
import config from '../playwright.config.ts';
import { finalCall, invoke } from './contract/kit/calls.ts';
import { expect, test } from './fixtures.ts';
import type { Callboard } from './start-callboard.ts';
import { ALLOWS_EFFECTS } from './support/config-file.ts';
import { cardOf, composer, signIn, untilReady } from './support/workbench.ts';

const LINK = 'https://board.example/pair/K7Q2M9XA';

/** What a camera sees that is held before a QR code: one frame, in shades of grey. */
function filmOf(text: string): Buffer {
  const [width, height] = [640, 480];
  const code = encodeQR(text, 'raw', { border: 4 });
  const scale = Math.floor(400 / code.length);
  const luma = Buffer.alloc(width * height, 200);
  const [left, top] = [width, height].map((side) => (side - code.length * scale) >> 1);
  for (const [y, row] of code.entries())
    for (const [x, isDark] of row.entries())
      for (let line = 0; line < scale; line += 1) {
        const start = ((top ?? 0) + y * scale + line) * width + (left ?? 0) + x * scale;
        luma.fill(isDark ? 20 : 235, start, start + scale);
      }
  const grey = Buffer.alloc((width * height) / 2, 128);
  const header = `YUV4MPEG2 W${width} H${height} F10:1 Ip A1:1 C420jpeg\n`;
  return Buffer.concat([Buffer.from(header), Buffer.from('FRAME\n'), luma, grey]);
}

const { launchOptions } = config.use ?? {};
test.use({
  callboardEnv: ALLOWS_EFFECTS,
  permissions: [
    'camera',
    'microphone',
    'geolocation',
    'clipboard-read',
    'clipboard-write',
    'notifications',
  ],
  geolocation: { latitude: 50, longitude: 8, accuracy: 5 },
  // As long as the worker's browser runs; the process that only lists the tests makes none.
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads a fixture's needs from it.
  launchOptions: async ({}, use) => {
    const folder = mkdtempSync(join(tmpdir(), 'callboard-film-'));
    const film = join(folder, 'code.y4m');
    writeFileSync(film, filmOf(LINK));
    const flag = `--use-file-for-fake-video-capture=${film}`;
    await use({ ...launchOptions, args: [...(launchOptions?.args ?? []), flag] });
    rmSync(folder, { recursive: true, force: true });
  },
});

test.beforeEach(async ({ page, callboard }) => {
  await signIn(page, callboard);
  await untilReady(page);
});

/** A call that ends without a person, with its result. */
async function resultOf(board: Callboard, name: string, args: Record<string, unknown> = {}) {
  const { result, error } = await finalCall(board, await invoke(board, name, args));
  expect(error, name).toBeNull();
  return result;
}

const promptOf = (page: Page): Locator => page.getByTestId('device-prompt');

test('the camera reads a QR code that is held before it, and takes a picture of it', async ({
  page,
  callboard,
}) => {
  const id = await invoke(callboard, 'camera.scan');
  expect((await finalCall(callboard, id)).result).toMatchObject({
    codes: [{ text: LINK, format: 'qr_code' }],
  });
  await expect(cardOf(page, id)).toHaveAttribute('data-status', 'SUCCESS');
  const args = { max_width: 320, format: 'png' };
  expect(await resultOf(callboard, 'camera.photo', args)).toMatchObject({
    ...{ width: 320, height: 240, media_type: 'image/png' },
  });
});

test('sound, position, clipboard, notification and the state of the device are real', async ({
  page,
  callboard,
}) => {
  const id = await invoke(callboard, 'microphone.record', { seconds: 1 });
  const { result, attachments } = await finalCall(callboard, id);
  expect(result).toMatchObject({ media_type: 'audio/webm', silent: false });
  expect(attachments).toMatchObject([{ media_type: 'audio/webm', name: 'recording.webm' }]);
  await expect(cardOf(page, id)).toContainText('recording.webm');

  expect(await resultOf(callboard, 'geolocation.watch', { seconds: 1 })).toMatchObject({
    track: [{ latitude: 50, longitude: 8 }],
    distance_m: 0,
  });
  await page.bringToFront();
  await page.mouse.click(5, 5);
  expect(await resultOf(callboard, 'clipboard.write', { text: 'high tide' })).toEqual({
    written_chars: 9,
  });
  expect(await resultOf(callboard, 'clipboard.read')).toEqual({ text: 'high tide' });
  expect(await resultOf(callboard, 'notification.show', { title: 'Tide' })).toEqual({
    shown: true,
  });
  expect(await resultOf(callboard, 'battery.read')).toMatchObject({ charging: true });
  expect(await resultOf(callboard, 'network.read')).toMatchObject({ online: true });
});

test('a browser without a voice says so', async ({ callboard }) => {
  const { error } = await finalCall(
    callboard,
    await invoke(callboard, 'speech.say', { text: 'Tide' }),
  );
  expect(error).toMatchObject({
    ...{ code: 'tool_error', client_code: 'unavailable' },
    message: 'This browser has no voice, so it cannot speak.',
  });
});

test('a question takes no focus, is answered by keyboard, and the answer is the result', async ({
  page,
  callboard,
}) => {
  const picture = await sharp({
    create: { width: 40, height: 20, channels: 3, background: '#0a7' },
  })
    .png()
    .toBuffer();
  await composer(page).fill('half a sentence');
  const id = await invoke(callboard, 'display.show', {
    title: 'Which table?',
    text: 'The window is free.\n<b>Until eight.</b>',
    image: `data:image/png;base64,${picture.toString('base64')}`,
    buttons: ['At the window', 'At the door'],
    input: true,
  });
  const question = promptOf(page);
  await expect(question).toContainText('<b>Until eight.</b>');
  await expect(question.getByRole('img')).toHaveJSProperty('naturalWidth', 40);
  await expect(cardOf(page, id)).toHaveAttribute('data-phase', 'device');
  await expect(composer(page)).toBeFocused();
  const { violations } = await new AxeBuilder({ page })
    .setLegacyMode()
    .include('[data-testid="device-prompt"]')
    .analyze();
  expect(violations.map(({ id }) => id)).toEqual([]);

  await question.getByRole('textbox', { name: 'Your answer' }).focus();
  await page.keyboard.type('for two');
  await page.keyboard.press('Tab');
  await expect(question.getByRole('button', { name: 'At the window' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(question).toBeHidden();
  expect((await finalCall(callboard, id)).result).toEqual({
    ...{ answered: true, button: 'At the window', button_index: 0, text: 'for two' },
  });
});

test('at 360 px in Chinese and dark, a question fits and can be closed', async ({
  page,
  callboard,
}, testInfo) => {
  await page.setViewportSize({ width: 360, height: 640 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.context().addCookies([{ name: 'locale', value: 'zh', url: callboard.url }]);
  await page.reload();
  const tools = async () => JSON.stringify((await callboard.http('GET', '/v1/tools')).body);
  await expect.poll(tools).toContain('"display.show"');
  const long = 'Please read all of this. '.repeat(60);
  const id = await invoke(callboard, 'display.show', {
    ...{ title: 'Rules of the house', text: long, buttons: ['x'.repeat(80), '同意', 'No'] },
  });
  const question = promptOf(page);
  const close = question.getByRole('button', { name: '关闭' });
  await expect(close).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  // The words of a long button break: none of them is outside its frame.
  const isCut = (button: HTMLElement) => button.scrollWidth > button.clientWidth;
  expect(await question.getByRole('button', { name: 'xxx' }).evaluate(isCut)).toBe(false);
  await close.scrollIntoViewIfNeeded();
  await page.screenshot({ path: testInfo.outputPath('question.png') });
  await close.click();
  expect((await finalCall(callboard, id)).result).toEqual({ answered: false, closed: true });
});

test('a picture that a person picks comes without its metadata', async ({ page, callboard }) => {
  const place = { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 0/1' };
  const buffer = await sharp({ create: { width: 80, height: 60, channels: 3, background: '#0a7' } })
    .withExif({ IFD0: { Make: 'SecretCamera' }, IFD3: place })
    .jpeg()
    .toBuffer();
  const id = await invoke(callboard, 'file.pick', { accept: 'image/*' });
  const chooser = page.waitForEvent('filechooser');
  await promptOf(page).getByRole('button', { name: 'Choose files' }).click();
  await (await chooser).setFiles([{ name: 'beach.jpg', mimeType: 'image/jpeg', buffer }]);
  const { result, attachments } = await finalCall(callboard, id);
  expect(result).toMatchObject({ files: [{ name: 'beach.jpg', width: 80, metadata: 'removed' }] });
  const [blob] = attachments;
  const headers = { authorization: `Bearer ${callboard.token}` };
  const stored = await fetch(`${callboard.url}/v1/blobs/${blob?.blob_id}`, { headers });
  const bytes = Buffer.from(await stored.arrayBuffer());
  expect(bytes.includes('SecretCamera')).toBe(false);
  expect((await sharp(bytes).metadata()).exif).toBeUndefined();
});

test('a page is opened by a touch that shows its address; Not now declines', async ({
  page,
  callboard,
}) => {
  const url = `${callboard.url}/health?a=1`;
  const id = await invoke(callboard, 'page.open', { url });
  await expect(promptOf(page)).toContainText(url);
  const opened = page.context().waitForEvent('page');
  await promptOf(page).getByRole('button', { name: 'Open' }).click();
  await (await opened).waitForURL(url);
  expect((await finalCall(callboard, id)).result).toEqual({ opened: true, url });

  await page.bringToFront();
  const again = await invoke(callboard, 'page.open', { url });
  await promptOf(page).getByRole('button', { name: 'Not now' }).click();
  expect((await finalCall(callboard, again)).error).toMatchObject({ client_code: 'declined' });
});
