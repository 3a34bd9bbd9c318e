import { AxeBuilder } from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';
import type { Callboard } from '../start-callboard.ts';

/** A view of the device page has nothing that axe finds and is no wider than its screen; a picture is left. */
export async function shootView(page: Page, path: string): Promise<void> {
  // Beside it axe would see a view that fades in.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze();
  const found = violations.map(({ id, nodes }) => {
    const where = nodes.map(
      ({ target, failureSummary }) => `${target.join(' ')} ${failureSummary}`,
    );
    return `${id}: ${where.join(', ')}`;
  });
  expect(found, path).toEqual([]);
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(wider, path).toBeLessThanOrEqual(0);
  await page.screenshot({ path, fullPage: true });
}

/** The page as one that was paired before, by a token that the server accepts. */
export async function keepPairing(page: Page, board: Callboard): Promise<void> {
  const kept = {
    token: board.token,
    name: 'Pocket',
    workbench: { name: 'Lab bench', fingerprint: [1, 2, 3, 4] },
    device_id: 'device_1',
  };
  await page.goto(`${board.url}/device`);
  await page.evaluate(
    (text) => localStorage.setItem('callboard:device', text),
    JSON.stringify(kept),
  );
}

export async function untilConnected(page: Page, word = 'Connected'): Promise<void> {
  await expect(page.getByRole('status').filter({ hasText: word })).toBeVisible();
}
