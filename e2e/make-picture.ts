/**
 * `npm run picture`: makes `docs/workbench.png` for the README from the built server, a real tab
 * and the rehearsal model. Nothing in it is drawn by hand.
 */
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { chromium } from '@playwright/test';
import { type Callboard, startCallboard } from './start-callboard.ts';

const FILE = join(import.meta.dirname, '..', 'docs', 'workbench.png');
const REQUESTS = ['(2+3)*4', 'Take a screenshot of this page and tell me my position'];

const callboard = await startCallboard();
try {
  await makePicture(callboard);
} finally {
  await callboard.remove();
}

async function makePicture({ signInUrl }: Callboard): Promise<void> {
  const executablePath = process.env.CALLBOARD_CHROMIUM;
  const browser = await chromium.launch({
    ...(executablePath ? { executablePath } : {}),
    args: ['--no-sandbox'],
  });
  try {
    const page = await browser.newPage({
      viewport: { width: 1440, height: 900 },
      colorScheme: 'dark',
      locale: 'en-US',
      permissions: ['geolocation'],
      geolocation: { latitude: 52.52, longitude: 13.405, accuracy: 12 },
    });
    await page.goto(signInUrl);
    for (const request of REQUESTS) await ask(page, request);
    await page.locator('[data-testid=tool-card][data-status=SUCCESS] img').first().waitFor();
    await page.locator('body').click({ position: { x: 5, y: 5 } });
    await page.screenshot({ path: FILE });
  } finally {
    await browser.close();
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
