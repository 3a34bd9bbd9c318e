/**
 * `npm run picture`: makes the pictures of the README and of `docs/phone.md` from the built server,
 * real tabs and the rehearsal model. Names, sizes and answers are fixed, so that a new run gives
 * nearly the same. Nothing in them is drawn by hand.
 */
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from '@playwright/test';
import { chromium } from '@playwright/test';
import { makePhonePictures } from './picture/phone-pictures.ts';
import { type Callboard, startCallboard } from './start-callboard.ts';

const FILE = join(import.meta.dirname, '..', 'docs', 'workbench.png');
const REQUESTS = ['(2+3)*4', 'Take a screenshot of this page and tell me my position'];
const DESK: BrowserContextOptions = {
  viewport: { width: 1440, height: 900 },
  colorScheme: 'dark',
  locale: 'en-US',
  permissions: ['geolocation'],
  geolocation: { latitude: 52.52, longitude: 13.405, accuracy: 12 },
};

const executablePath = process.env.CALLBOARD_CHROMIUM;
const browser = await chromium.launch({
  ...(executablePath ? { executablePath } : {}),
  args: ['--no-sandbox'],
});
try {
  await withCallboard((board) => makeWorkbenchPicture(browser, board));
  await withCallboard((board) => makePhonePictures(browser, board));
} finally {
  await browser.close();
}

/** Each picture shows an empty history: a server of its own. */
async function withCallboard(make: (board: Callboard) => Promise<void>): Promise<void> {
  const board = await startCallboard();
  try {
    await make(board);
  } finally {
    await board.remove();
  }
}

async function makeWorkbenchPicture(from: Browser, { signInUrl }: Callboard): Promise<void> {
  const page = await from.newPage(DESK);
  try {
    await page.goto(signInUrl);
    for (const request of REQUESTS) await ask(page, request);
    await page.locator('[data-testid=tool-card][data-status=SUCCESS] img').first().waitFor();
    await page.locator('body').click({ position: { x: 5, y: 5 } });
    await page.screenshot({ path: FILE });
  } finally {
    await page.close();
  }
}

/** Sends a request and waits until its turn has ended. */
async function ask(page: Page, request: string): Promise<void> {
  const composer = page.getByRole('textbox').first();
  await composer.fill(request);
  await composer.press('Enter');
  const stop = page.getByRole('button', { name: 'Stop' });
  await stop.waitFor();
  await stop.waitFor({ state: 'detached' });
}
