import type { Page } from '@playwright/test';
import { finalCall, invoke, readCall } from './contract/kit/calls.ts';
import { expect, test } from './fixtures.ts';
import type { Callboard } from './start-callboard.ts';
import { wholeChromium } from './support/browsers.ts';
import { keepPairing, shootView, untilConnected } from './support/device-views.ts';
import { tapNote, windowsOf } from './support/push-worker.ts';
import { type ScriptedPairing, scriptPairing } from './support/scripted-pairing.ts';

// The headless shell shows no notifications.
test.use({ launchOptions: wholeChromium, serverOf: 'file' });

/** A paired page that is connected. */
async function openDevice(page: Page, board: Callboard): Promise<ScriptedPairing> {
  const pairing = await scriptPairing(page);
  pairing.decide('approved');
  await keepPairing(page, board);
  await page.goto(`${board.url}/device`);
  await untilConnected(page);
  return pairing;
}

const sheet = (page: Page) => page.getByRole('region', { name: /Question of a tool|工具的询问/ });
const rule = (page: Page, tool: string, choice: string) =>
  page.getByRole('group', { name: `Rule for ${tool}` }).getByText(choice, { exact: true });
const _phaseOf = async (board: Callboard, id: string) => (await readCall(board, id)).phase;

test('[DP8] a rule is followed at once: while open it does not ask, off it is not offered', async ({
  page,
  callboard,
}) => {
  await openDevice(page, callboard);
  await rule(page, 'Device', 'While open').click();
  const id = await invoke(callboard, 'device.info');
  expect(await finalCall(callboard, id)).toMatchObject({ status: 'SUCCEEDED' });
  await rule(page, 'Device', 'Off').click();
  const names = async () => {
    const { body } = await callboard.http('GET', '/v1/tools');
    return (body as { tools: { name: string }[] }).tools.map(({ name }) => name);
  };
  await expect.poll(names).not.toContain('device.info');
  await page.reload();
  await untilConnected(page);
  expect(await names()).not.toContain('device.info');
});

test('[DP12] the newest tab is the device, and the other says so', async ({ page, callboard }) => {
  await openDevice(page, callboard);
  const other = await page.context().newPage();
  await scriptPairing(other);
  await other.goto(`${callboard.url}/device`);
  await untilConnected(other);
  await untilConnected(page, 'Open in another tab');
  await page.getByRole('button', { name: 'Use this tab' }).click();
  await untilConnected(page);
  await untilConnected(other, 'Open in another tab');
});

test('[DP12] [DP15] a server that is not there, and a token that it refuses, are named with what mends them', async ({
  page,
  startServer,
}) => {
  const first = await startServer();
  const pairing = await openDevice(page, first);
  await page.getByRole('button', { name: 'Examine' }).click();
  const step = (name: string) => page.locator(`[data-step="${name}"]`);
  for (const name of ['secure', 'server', 'clock', 'token', 'line']) {
    await expect(step(name)).toHaveAttribute('data-state', 'ok');
  }
  await first.stop();
  await untilConnected(page, 'Offline');
  await page.getByRole('button', { name: 'Examine again' }).click();
  await expect(step('server')).toHaveAttribute('data-state', 'failed');
  await expect(step('server')).toContainText('in the same network');
  // The same address, and data in which this token is unknown.
  pairing.decide('revoked');
  await startServer({ env: { CALLBOARD_PORT: new URL(first.url).port } });
  await untilConnected(page, 'Access revoked');
  await expect(page.getByRole('button', { name: 'Pair again' })).toBeVisible();
});

test('[DP43] a tap on a notification shows the page of the device, or opens it', async ({
  page,
  context,
  callboard,
}) => {
  await context.grantPermissions(['notifications']);
  await openDevice(page, callboard);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await rule(page, 'Notification', 'While open').click();
  const id = await invoke(callboard, 'notification.show', { title: 'Tide' });
  expect(await finalCall(callboard, id)).toMatchObject({ status: 'SUCCEEDED' });
  const tap = () => tapNote(context, '/device/sw.js');
  expect(await tap()).toEqual({ asked: ['focus /device'], left: 0 });
  const other = await invoke(callboard, 'notification.show', { title: 'Tide' });
  expect(await finalCall(callboard, other)).toMatchObject({ status: 'SUCCEEDED' });
  await page.goto('about:blank');
  await expect.poll(() => windowsOf(context, '/device/sw.js')).toBe(0);
  expect(await tap()).toEqual({ asked: ['open /device'], left: 0 });
});

test('[DP21] the page can be installed, and opens offline', async ({ page, startServer }) => {
  const callboard = await startServer();
  await openDevice(page, callboard);
  const manifest = await page.evaluate(async () => {
    const link = document.querySelector<HTMLLinkElement>('link[rel=manifest]');
    return (await fetch(link?.href ?? '')).json();
  });
  for (const { src } of manifest.icons) {
    expect((await callboard.http('GET', src)).headers.get('content-type')).toBe('image/png');
  }
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.reload();
  await untilConnected(page);
  await callboard.stop();
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Pocket' })).toBeVisible();
  const cached = await page.evaluate(async () => {
    const names = await caches.keys();
    const found = names.map(async (name) => (await caches.open(name)).keys());
    return (await Promise.all(found)).flat().map(({ url }) => new URL(url).pathname);
  });
  expect(cached.filter((path) => !/^\/device(?:$|\/assets\/)/.test(path))).toEqual([]);
});

test.describe('at 320 px in zh, dark', () => {
  test.use({
    viewport: { width: 320, height: 640 },
    locale: 'zh',
    colorScheme: 'dark',
    hasTouch: true,
  });

  test('[DP16] the device and its question fit, and axe finds nothing', async ({
    page,
    callboard,
  }, testInfo) => {
    const pairing = await scriptPairing(page);
    pairing.decide('approved');
    await keepPairing(page, callboard);
    await page.goto(`${callboard.url}/device`);
    await untilConnected(page, '已连接');
    await page.getByRole('button', { name: /^(Examine|检查)$/ }).click();
    await expect(page.locator('[data-step=line]')).toBeVisible();
    const shoot = (name: string) => shootView(page, testInfo.outputPath(`${name}-zh-dark.png`));
    await shoot('device');
    const id = await invoke(callboard, 'page.text', { selector: 'main > h1.title' });
    await expect(sheet(page)).toBeVisible();
    await page.setViewportSize({ width: 320, height: 568 });
    await shoot('ask');
    await sheet(page).getByRole('button').last().click();
    await expect(sheet(page).getByRole('textbox')).toBeVisible();
    await shoot('decline');
    await page.keyboard.press('Enter');
    expect(await finalCall(callboard, id)).toMatchObject({ status: 'FAILED' });
    await shoot('used');
  });
});
