/**
 * Makes `docs/workbench.png` for the README: the built server, a real tab, the
 * rehearsal model. Run it after `npm run build`:
 *
 *   node e2e/make-picture.ts
 */
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { startCallboard } from './start-callboard.ts';

const callboard = await startCallboard();
const browser = await chromium.launch({
  executablePath: process.env.CALLBOARD_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
const context = await browser.newContext({
  viewport: { width: 1440, height: 900 },
  colorScheme: 'dark',
  locale: 'en-US',
  permissions: ['geolocation'],
  geolocation: { latitude: 52.52, longitude: 13.405, accuracy: 12 },
});
const page = await context.newPage();
await page.goto(callboard.signInUrl);
for (const request of ['(2+3)*4', 'Take a screenshot of this page and tell me my position']) {
  const composer = page.getByRole('textbox').first();
  await composer.fill(request);
  await composer.press('Enter');
  await page.getByRole('button', { name: 'Stop' }).waitFor();
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
}
await page.locator('[data-testid=tool-card][data-status=SUCCESS] img').first().waitFor();
await page.locator('body').click({ position: { x: 5, y: 5 } });
await page.screenshot({ path: join(import.meta.dirname, '..', 'docs', 'workbench.png') });
await browser.close();
await callboard.remove();
process.exit(0);
