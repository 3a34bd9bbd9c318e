import { join } from 'node:path';
import type { Browser, Locator, Page, Route } from '@playwright/test';
import { expect } from '@playwright/test';
import sharp from 'sharp';
import type { OpenedPairing } from '#lib/protocol/device';
import { invoke } from '../contract/kit/calls.ts';
import type { Callboard } from '../start-callboard.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'docs');
const LOOK = { colorScheme: 'light', locale: 'en-US', reducedMotion: 'reduce' } as const;
const PHONE = {
  ...{ ...LOOK, viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 },
  ...{ isMobile: true, hasTouch: true, permissions: ['camera', 'geolocation'] },
  userAgent:
    'Mozilla/5.0 (Linux; Android 15; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36',
};
const WORKBENCH = { name: 'Lab bench', fingerprint: [7, 77, 177, 240] };
const SHOWN_CODE = 'ABCD2345';

/** The Pair dialog, the phone that asks to join, its question to its person, and the page Devices. */
export async function makePhonePictures(browser: Browser, board: Callboard): Promise<void> {
  const desk = await browser.newPage({ ...LOOK, viewport: { width: 1000, height: 560 } });
  const phone = await browser.newPage(PHONE);
  try {
    await desk.goto(board.signInUrl);
    await desk.getByRole('textbox').first().waitFor();
    await desk.goto(`${board.url}/devices`);
    await desk.getByRole('button', { name: 'Pair a device' }).waitFor();
    await shootPairDialog(desk);
    const { code, pairing_id } = await openPairing(board);
    await joinFrom(phone, { board, code });
    await board.http('POST', `/v1/pairings/${pairing_id}/decision`, { decision: 'approve' });
    await shootQuestion(phone, board);
    await shootDevices(desk);
  } finally {
    await desk.close();
    await phone.close();
  }
}

/** The page has a code, an address and words that are the same in each run. */
async function shootPairDialog(desk: Page): Promise<void> {
  await desk.route('**/v1/pairings', (route) =>
    route.request().method() === 'POST' ? openedWithFixedCode(route) : route.continue(),
  );
  await desk.getByRole('button', { name: 'Pair a device' }).click();
  await desk.getByTestId('qr').waitFor();
  await save(desk.getByRole('dialog'), 'pair-dialog');
  await desk.getByRole('button', { name: 'Close' }).first().click();
  await desk.unroute('**/v1/pairings');
}

async function openedWithFixedCode(route: Route): Promise<void> {
  const response = await route.fetch();
  const opened: OpenedPairing = await response.json();
  const shown: OpenedPairing = {
    ...opened,
    ...{ code: SHOWN_CODE, workbench: WORKBENCH },
    links: [`https://192.168.1.20:3000/pair/${SHOWN_CODE}`],
  };
  await route.fulfill({ response, json: shown });
}

async function openPairing(board: Callboard): Promise<OpenedPairing> {
  const { body } = await board.http('POST', '/v1/pairings', {});
  return body as OpenedPairing;
}

async function joinFrom(
  phone: Page,
  { board, code }: { board: Callboard; code: string },
): Promise<void> {
  await phone.route('**/api/pairing/*', async (route) => {
    const response = await route.fetch();
    const answer: object = await response.json();
    const json = 'workbench' in answer ? { ...answer, workbench: WORKBENCH } : answer;
    await route.fulfill({ response, json });
  });
  await phone.goto(`${board.url}/pair/${code}`);
  await phone.getByLabel('Name of this device').fill('Pixel 8');
  await save(phone, 'phone-pair');
  await phone.getByRole('button', { name: 'Join' }).click();
}

async function shootQuestion(phone: Page, board: Callboard): Promise<void> {
  await phone.getByRole('button', { name: 'Open this device' }).click();
  await phone.getByRole('status').filter({ hasText: 'Connected' }).waitFor();
  await invoke(board, 'page.text', { selector: 'h1', max_chars: 400 });
  // Its buttons take no tap at first.
  const allow = phone.getByRole('button', { name: 'Allow once' });
  await expect(allow).toBeEnabled();
  await expect(allow).toHaveCSS('opacity', '1');
  await save(phone, 'phone-device');
}

async function shootDevices(desk: Page): Promise<void> {
  const card = desk.getByRole('article', { name: 'Pixel 8' });
  await expect(card.getByTestId('presence')).toHaveText(/online/);
  await expect(card).toContainText(/(\d+) of \1 offered/);
  await save(desk, 'devices');
}

/** In 64 colours: the pictures are text on plain ground. */
async function save(of: Page | Locator, name: string): Promise<void> {
  const picture = sharp(await of.screenshot({ animations: 'disabled' }));
  await picture.png({ palette: true, colours: 64, effort: 10 }).toFile(join(FOLDER, `${name}.png`));
}
