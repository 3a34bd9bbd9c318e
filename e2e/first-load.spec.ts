import { gzipSync } from 'node:zlib';
import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { cards, composer, say, signIn, untilReady } from './support/workbench.ts';

/** Bytes of JavaScript, gzipped, that the workbench may load before any person has done anything. */
const LIMIT = 250_000;

/** The scripts that a page loads from now on, by path, with their gzipped size. */
function scriptsOf(page: Page): Map<string, Promise<number>> {
  const scripts = new Map<string, Promise<number>>();
  page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    if (response.request().resourceType() !== 'script' || scripts.has(pathname)) return;
    scripts.set(
      pathname,
      response.body().then((bytes) => gzipSync(bytes).length),
    );
  });
  return scripts;
}

test('the workbench loads at most 250 kB of JavaScript, gzipped, before anything is done', async ({
  page,
  context,
  callboard,
}) => {
  await signIn(page, callboard);
  await page.close();
  const first = await context.newPage();
  const scripts = scriptsOf(first);
  await first.goto(callboard.url);
  await untilReady(first);
  await first.waitForLoadState('networkidle');
  const sizes = await Promise.all(
    [...scripts].map(async ([path, size]) => ({ path, size: await size })),
  );
  const total = sizes.reduce((sum, { size }) => sum + size, 0);
  const list = sizes.toSorted((a, b) => b.size - a.size);
  expect(total, JSON.stringify(list, null, 1)).toBeLessThanOrEqual(LIMIT);
  // Guards the measurement itself: a page without scripts would be small as well.
  expect(total).toBeGreaterThan(100_000);
});

test('code that cannot be fetched says so, and is fetched by Try again', async ({
  page,
  callboard,
}) => {
  await signIn(page, callboard);
  await untilReady(page);
  await page.waitForLoadState('networkidle');
  await page.route('**/_next/static/**', (route) => route.abort());
  await page.keyboard.press('?');
  await expect(page.getByText('This part of the page could not be loaded.')).toBeVisible();
  await page.unroute('**/_next/static/**');
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
});

test('the first call brings its cards, whose menu is reached and left by the keyboard', async ({
  page,
  callboard,
}) => {
  await signIn(page, callboard);
  await untilReady(page);
  await say(page, '(2+3)*4?');
  await expect(cards(page)).toHaveAttribute('data-status', 'SUCCESS');
  await composer(page).blur();
  await page.keyboard.press('j');
  await expect(cards(page)).toBeFocused();
  const button = cards(page).getByRole('button', { name: 'More for calculation.eval' });
  await expect(button).toHaveAttribute('aria-expanded', 'false');
  await button.press('Enter');
  const menu = page.getByRole('menu', { name: 'More for calculation.eval' });
  await expect(menu.getByRole('menuitem', { name: 'Copy id' })).toBeFocused();
  await expect(button).toHaveAttribute('aria-expanded', 'true');
  await page.keyboard.press('ArrowDown');
  await expect(menu.getByRole('menuitem', { name: 'Copy as curl' })).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(menu).toBeHidden();
  await expect(button).toBeFocused();
  await button.click();
  await expect(menu).toBeVisible();
  await button.click();
  await expect(menu).toBeHidden();
});

test('the line between the parts is moved by arrow keys and by the pointer', async ({
  page,
  callboard,
}) => {
  await signIn(page, callboard);
  await untilReady(page);
  const line = page.getByRole('separator', { name: 'Width of the conversation' });
  const chat = page.getByRole('region', { name: 'Chat' });
  const width = async () => (await chat.boundingBox())?.width ?? 0;
  const before = await width();
  await line.press('ArrowRight');
  await expect(line).toHaveAttribute('aria-valuenow', '47');
  expect(await width()).toBeGreaterThan(before);
  const box = await line.boundingBox();
  if (!box) throw new Error('The line is not drawn');
  await page.mouse.move(box.x, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x - 200, box.y + 100, { steps: 4 });
  await page.mouse.up();
  expect(await width()).toBeLessThan(before);
});
