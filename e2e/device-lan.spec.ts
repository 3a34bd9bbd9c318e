import type { Browser, Page } from '@playwright/test';
import { finalCall, invoke, readCall } from './contract/kit/calls.ts';
import { expect, test } from './fixtures.ts';
import type { Callboard, StartOptions } from './start-callboard.ts';
import { untilConnected } from './support/device-views.ts';
import { PHONE_NAMES, type PhoneName, phoneOptions } from './support/phone-options.ts';
import { readQr } from './support/read-qr.ts';
import { keyOfCa, launchTrusting } from './support/trusting-browser.ts';
import { signIn } from './support/workbench.ts';

const sheet = (page: Page) => page.getByRole('region', { name: 'Question of a tool' });
const rule = (page: Page, tool: string, choice: string) =>
  page.getByRole('group', { name: `Rule for ${tool}` }).getByText(choice, { exact: true });
const card = (page: Page, name: string) => page.getByRole('article', { name });

const offered = async (board: Callboard) => {
  const { body } = await board.http('GET', '/v1/tools');
  return (body as { tools: { name: string }[] }).tools.map(({ name }) => name);
};

interface Lan {
  readonly board: Callboard;
  readonly browser: Browser;
  /** Signed in, at the page of the devices. */
  readonly operator: Page;
}

/** A server for the local network, by TLS, and a person at it. */
async function openLan(start: (options: StartOptions) => Promise<Callboard>): Promise<Lan> {
  const board = await start({ args: ['--lan'], env: { CALLBOARD_HOST: '' } });
  const browser = await launchTrusting(await keyOfCa(board));
  const operator = await (await browser.newContext()).newPage();
  await signIn(operator, board);
  // Its own tab offers the same tools: it goes, so that calls reach the phone alone.
  await operator.goto(`${board.url}/devices`);
  return { board, browser, operator };
}

async function openPhone({ browser }: Lan, phone: PhoneName, hasSockets: boolean): Promise<Page> {
  const context = await browser.newContext({ ...phoneOptions(phone), locale: 'en' });
  const page = await context.newPage();
  if (!hasSockets) {
    await page.routeWebSocket(/\/ws\/client$/, (socket) => void socket.close({ code: 4000 }));
  }
  return page;
}

/** Follows the picture on the phone, without the tool `device.info`, and lets it in at the workbench. */
async function pair({ operator }: Lan, page: Page, name: string): Promise<void> {
  await operator.getByRole('button', { name: 'Pair a device' }).click();
  await expect(operator.getByTestId('qr')).toBeVisible();
  const link = await readQr(operator);
  expect(new URL(link).protocol).toBe('https:');
  await page.goto(link);
  expect(await page.evaluate(() => isSecureContext)).toBe(true);
  const words = (await operator.getByTestId('fingerprint').textContent()) ?? '';
  // Two of the four may be the same.
  const shown = page.getByRole('list').filter({ hasText: words.trim().split(' ')[0] ?? '' });
  await expect(shown.first().getByRole('listitem')).toHaveText(words.trim().split(' '));
  await page.getByLabel('Name of this device').fill(name);
  await rule(page, 'Device', 'Off').click();
  await page.getByRole('button', { name: 'Join' }).click();
  const request = operator.getByTestId('pairing-request');
  await expect(request).toContainText(name);
  await request.getByRole('button', { name: 'Let it in' }).click();
  await operator.getByRole('button', { name: 'Close' }).first().click();
  await page.getByRole('button', { name: 'Open this device' }).click();
  await untilConnected(page);
}

async function callAndAllow({ board }: Lan, page: Page, client: string): Promise<void> {
  const id = await invoke(board, 'page.text', { selector: 'h1' }, { client });
  await expect(sheet(page)).toContainText('Allow Text of the page?');
  await expect.poll(async () => (await readCall(board, id)).phase).toBe('device');
  await sheet(page).getByRole('button', { name: 'Allow once' }).click();
  const { status, result } = await finalCall(board, id);
  expect([status, result]).toMatchObject(['SUCCEEDED', { text: 'My phone' }]);
}

/** A tool that is switched on later waits at the workbench. */
async function widen({ operator }: Lan, page: Page): Promise<void> {
  await rule(page, 'Device', 'Ask').click();
  await expect(page.getByText('Waits for a person at the workbench')).toBeVisible();
  const waiting = card(operator, 'My phone').getByTestId('waiting-tool');
  await expect(waiting).toContainText('device.info');
  await waiting.getByRole('button', { name: 'Allow device.info' }).click();
  await expect(waiting).toHaveCount(0);
  await expect(page.getByText('Waits for a person at the workbench')).toBeHidden();
  await card(operator, 'My phone')
    .getByText(/^Tools:/)
    .click();
  await card(operator, 'My phone').getByRole('button', { name: 'Take back page.text' }).click();
  await expect(page.getByText('Not allowed at the workbench')).toBeVisible();
}

for (const [at, phone] of PHONE_NAMES.entries()) {
  const hasSockets = at > 0;
  const line = hasSockets ? 'a WebSocket' : 'a stream, where no WebSocket opens';
  test(`[DP36] [DP41] by TLS and ${line}, a ${phone} is paired by the picture, answers, gets a tool more, and is revoked in mid-call`, async ({
    startServer,
  }) => {
    const lan = await openLan(startServer);
    const { board, operator } = lan;
    const page = await openPhone(lan, phone, hasSockets);
    await pair(lan, page, 'My phone');
    const { body } = await board.http('GET', '/v1/devices');
    const [device] = (body as { devices: { device_id: string; client_id: string }[] }).devices;
    const client = device?.client_id ?? '';

    await page.getByRole('button', { name: 'Examine' }).click();
    const step = page.locator('[data-step=line]');
    await expect(step).toHaveAttribute('data-state', hasSockets ? 'ok' : 'limited');
    await expect(step.getByRole('link', { name: /^Trust/ })).toHaveCount(hasSockets ? 0 : 1);

    await callAndAllow(lan, page, client);
    await widen(lan, page);
    expect(await offered(board)).toContain('device.info');
    const id = await invoke(board, 'device.info', {}, { client });
    await expect(sheet(page)).toBeVisible();
    await operator.getByRole('button', { name: /^Revoke/ }).click();
    await operator.getByRole('button', { name: 'Revoke', exact: true }).click();
    await untilConnected(page, 'Access revoked');
    await expect(sheet(page)).toBeHidden();
    expect((await finalCall(board, id)).status).not.toBe('SUCCEEDED');
    await page.screenshot({ path: test.info().outputPath('revoked.png'), fullPage: true });
    await lan.browser.close();
  });
}
